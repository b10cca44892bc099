// The page of a run, made from the data inside it.

// As value_text and significant_text of the program: decimals down to about a hundredth of the sd, and at least `digits`
// significant digits; scientific where there would be more than nine digits before or after the point.
const withDecimals = (x, decimals) => Math.abs(x) < 1e9 && decimals <= 9 ? x.toFixed(Math.max(decimals, 0))
  : x.toExponential(Math.min(Math.max((x === 0 ? 0 : Math.floor(Math.log10(Math.abs(x)))) + decimals, 1), 16));
const valueText = (x, sd) => (sd > 0 ? withDecimals(x, Math.round(2 - Math.log10(sd))) : Number(x.toPrecision(10)).toString());
const significantText = (x, digits) => (x === 0 ? "0" : withDecimals(x, digits - 1 - Math.floor(Math.log10(Math.abs(x)))));
const count = (x) => (x === null ? "NaN" : Math.round(x).toString());
const color = (i, n, alpha = 1) => `hsla(${Math.round((360 * i) / Math.max(n, 1) + 210) % 360}, 62%, 45%, ${alpha})`;

// Verdict.
$("labels").textContent = data.labels;
{
  const verdict = $("verdict");
  if (!data.trusted) verdict.className = "bad";
  verdict.append(element("strong", data.trusted ? "No problem found." : "This run should not be trusted as it is."));
  const list = element("ul");
  for (const finding of data.findings) {
    const item = element("li");
    item.append(element("span", finding.severity + ": ", finding.severity), finding.text, element("span", finding.advice, "advice"));
    list.append(item);
  }
  if (data.findings.length) verdict.append(list);
}

// The table, filtered by name.
const columns = ["name", "mean", "sd", "5 %", "50 %", "95 %", "mcse", "ess bulk", "ess tail", "R-hat"];
const fails = (row) => row[10] === 1;
const summary = sortableTable($("summary"), data.rows, columns.map((name) => [name, name === "R-hat"]), {
  value: (row, i) => row[i],
  matches: (row) => [row[0], row[11]].some((name) => name.toLowerCase().includes($("filter").value.trim().toLowerCase())) &&
    (!$("only-bad").checked || fails(row)),
  shown: $("shown"),
  line(row) {
    const line = element("tr");
    row.slice(0, 10).forEach((x, i) => {
      const text = i === 0 ? x : i === 7 || i === 8 ? count(x) : x === null ? "NaN" : i === 9 ? x.toFixed(3)
        : [1, 3, 4, 5].includes(i) ? valueText(x, row[2]) : significantText(x, i === 2 ? 3 : 2);
      const cell = element("td", text);
      if (i >= 7 && fails(row)) cell.className = "fails";
      line.append(cell);
    });
    return line;
  },
});
$("filter").addEventListener("input", summary.fill);
$("only-bad").addEventListener("change", summary.fill);

// Charts.
const legend = (n) => ({ legend: { display: n > 1 && n <= 12, labels: { boxWidth: 10 } }, tooltip: { enabled: false } });
const points = (x, y) => x.map((value, i) => ({ x: value, y: y[i] }));

function drawChains() {
  const q = data.quantities[$("quantity").selectedIndex];
  const chains = q.trace.length;
  const alpha = chains > 12 ? 0.45 : 0.9;
  const perChain = (make) => q.trace.map((_, c) => ({ label: "chain " + data.chains[c], borderColor: color(c, chains, alpha), ...make(c) }));
  draw("trace", { type: "line", data: { datasets: perChain((c) => ({ data: q.trace[c].map((y, i) => ({ x: i * data.trace_step, y })) })) },
    options: { parsing: false, scales: { x: axis("draw", { max: data.draws }), y: axis(q.name) }, plugins: legend(chains) } });
  const bins = q.ranks[0].length;
  draw("ranks", { type: "line", data: { datasets: perChain((c) => ({ stepped: "middle", data: q.ranks[c].map((y, i) => ({ x: (i + 0.5) / bins, y })) })) },
    options: { parsing: false, scales: { x: axis("rank, as a share of all draws", { min: 0, max: 1 }), y: axis("share, 1 expected", { min: 0 }) }, plugins: legend(chains) } });
  draw("density", { type: "line", data: { datasets: perChain((c) => ({ data: points(q.density_x, q.density[c]) })) },
    options: { parsing: false, scales: { x: axis(q.name), y: axis("density", { min: 0 }) }, plugins: legend(chains) } });
  draw("autocorrelation", { type: "bar", data: { labels: q.autocorrelation.map((_, i) => i), datasets: [{ data: q.autocorrelation, backgroundColor: "#3b6fb6" }] },
    options: { scales: { x: { title: { display: true, text: "lag (draws)" }, grid: { display: false } }, y: axis("correlation", { max: 1 }) }, plugins: legend(1) } });
  $("chains-note").textContent = `R-hat ${q.rhat === null ? "NaN" : q.rhat.toFixed(3)}, ESS ${count(q.ess_bulk)} bulk, ${count(q.ess_tail)} tail` +
    (data.trace_step > 1 ? `; every ${data.trace_step}th draw is shown` : "");
}
function drawPairs() {
  const x = data.quantities[$("pair-x").selectedIndex], y = data.quantities[$("pair-y").selectedIndex];
  const chains = x.trace.length;
  draw("pairs", { type: "scatter", data: { datasets: x.trace.map((values, c) => ({ label: "chain " + data.chains[c], pointRadius: 1.6,
    backgroundColor: color(c, chains, 0.5), borderWidth: 0, data: points(values, y.trace[c]) })) },
    options: { scales: { x: axis(x.name), y: axis(y.name) }, plugins: legend(chains) } });
}
for (const id of ["quantity", "pair-x", "pair-y"]) {
  for (const q of data.quantities) $(id).append(element("option", q.name));
  $(id).addEventListener("change", id === "quantity" ? drawChains : drawPairs);
}
$("pair-y").selectedIndex = Math.min(1, data.quantities.length - 1);
drawChains();
drawPairs();

if (data.moves.length) {
  $("moves-note").textContent = data.moves_note;
  draw("moves", { type: "line", data: { datasets: data.moves.map((part, i) => ({ label: part.name, borderWidth: 2, borderColor: color(i, data.moves.length),
    data: part.share.map((y, j) => ({ x: part.at[j], y })) })) },
    options: { parsing: false, scales: { x: axis("draw"), y: axis("share", { min: 0, max: 1 }) }, plugins: legend(2) } });
  const table = $("acceptance");
  table.append(row("th", ["block", "acceptance", "lowest chain", "highest chain"]),
    ...data.acceptance.map((b) => row("td", [b.name, b.rate.toFixed(3), b.lowest.toFixed(3), b.highest.toFixed(3)])));
} else {
  $("moves-section").remove();
}

if (data.fits.length) {
  $("fit-note").textContent = data.fit_note;
  data.fits.forEach((fit, i) => {
    const figure = element("figure"), box = element("div", undefined, "chart"), canvas = element("canvas");
    canvas.id = "fit-" + i;
    box.append(canvas);
    figure.append(element("figcaption", fit.name), box);
    $("fits").append(figure);
    const datasets = [
      { type: "line", label: "posterior mean", data: points(fit.x, fit.mean), borderColor: "#b42318", borderWidth: 2, order: 1 },
      { type: "line", label: "5 %", data: points(fit.x, fit.low), borderColor: "transparent", backgroundColor: "rgba(180,35,24,0.2)", fill: "+1", order: 2 },
      { type: "line", label: "95 %", data: points(fit.x, fit.high), borderColor: "transparent", fill: false, order: 2 }];
    if (fit.histogram.length)
      datasets.push({ type: "line", label: "data", stepped: "middle", borderColor: "#7a8699", backgroundColor: "rgba(122,134,153,0.25)", fill: "origin", order: 3, data: points(fit.histogram_x, fit.histogram) });
    draw(canvas.id, { type: "line", data: { datasets }, options: { parsing: false, scales: { x: axis(fit.name), y: axis("density", { min: 0 }) }, plugins: { legend: { display: false }, tooltip: { enabled: false } } } });
  });
} else {
  $("fit-section").remove();
}
if (data.predictive.length) {
  $("predictive").append(row("th", ["column", "statistic", "data", "replicates, mean", "5 %", "95 %", "p"]));
  for (const check of data.predictive) {
    const line = row("td", [check[0], check[1], ...check.slice(2, 6).map((x) => Number(x.toPrecision(4)).toString()), check[6].toFixed(3)]);
    if (check[6] < 0.01 || check[6] > 0.99) line.cells[6].className = "fails";
    $("predictive").append(line);
  }
} else if (data.no_predictive) {
  $("no-predictive").textContent = "There are none: " + data.no_predictive;
} else {
  $("predictive-section").remove();
}

// For tests: whether all charts are drawn, the table sorts and filters, and everything is as wide as its place.
window.selfTest = () => {
  const result = { errors: window.reportErrors, charts: colorsOfCharts(), sorted: false, filtered: false };
  // What is wider than its place, which paper would cut off.
  result.cut = [...document.querySelectorAll(".scroll, pre, figure, body")].filter((box) => box.scrollWidth > box.clientWidth + 1).length;
  const heads = $("summary").tHead.rows[0].cells, body = $("summary").tBodies[0];
  const column = (i) => [...body.rows].map((row) => row.cells[i].textContent);
  // Compares the values themselves, since the displayed text is rounded by each row's own sd.
  const values = new Map(data.rows.map((row) => [row[0], row]));
  const shown = (i) => column(0).map((name) => values.get(name)[i]).filter((x) => x !== null);
  heads[9].click();
  result.sorted = shown(9).every((x, i, all) => i === 0 || x <= all[i - 1]);
  heads[1].click();
  result.sorted = result.sorted && shown(1).every((x, i, all) => i === 0 || x >= all[i - 1]) && body.rows.length === data.rows.length;
  const name = data.rows[data.rows.length - 1][0];
  $("filter").value = name;
  summary.fill();
  result.filtered = body.rows.length >= 1 && column(0).every((text) => text.includes(name)) && body.rows.length < data.rows.length;
  $("filter").value = "no such quantity";
  summary.fill();
  result.filtered = result.filtered && body.rows.length === 0;
  $("filter").value = "";
  summary.unsort();
  return result;
};
if (location.hash === "#selftest") document.documentElement.dataset.selftest = JSON.stringify(window.selfTest());
