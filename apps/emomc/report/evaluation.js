// The page of an evaluation, made from the data inside it: methods (posterior, then EM or the penalised fit, if there is one), difference,
// convergence, run (names and texts), and rows (utterance, speaker, truth, predicted, p of truth, p of predicted). null
// stands for a number that is not finite.

const [posterior, em] = data.methods;
const colors = ["#3b6fb6", "#d98a29"];
const chance = 1 / data.classes.length;
const digits = (x, n = 3) => (x === null ? "-" : x.toFixed(n));
const signed = (x) => (x === null ? "-" : (x < 0 ? "\u2212" : "+") + Math.abs(x).toFixed(3));
const range = ([low, high], text = (x) => digits(x)) => (low === null || high === null ? "-" : `[${text(low)}, ${text(high)}]`);
const percent = (x) => (x === null ? "-" : (100 * x).toFixed(1) + " %");
// p-values and probabilities with three decimals, small ones with two significant digits.
const small = (x) => (x === null ? "-" : x === 0 || x >= 0.001 ? x.toFixed(3) : x.toExponential(1));
const isMiscalibrated = ({ calibration_error: error, calibration_error_99_percent_range: [low, high] }) =>
  error !== null && ((high !== null && error > high) || (low !== null && error < low));

// Headline.
{
  const card = (name, value, lines) => {
    const box = element("div", undefined, "card");
    box.append(element("span", name), element("b", value), ...lines.map((line) => element("span", ...[line].flat())));
    $("cards").append(box);
  };
  const beside = (key) => (em ? [`${em.name} ${digits(em[key])}`] : []);
  card("UAR", digits(posterior.uar), [`95 % ${range(posterior.uar_interval)} over speakers`, ...beside("uar"), `chance ${digits(chance)}`]);
  card("accuracy", digits(posterior.accuracy), [...beside("accuracy"), `chance ${digits(chance)}`]);
  card("log loss", digits(posterior.log_loss), [...beside("log_loss"), `chance ${digits(Math.log(data.classes.length))}`]);
  card("ECE", digits(posterior.calibration_error), [
    [`99 % ${range(posterior.calibration_error_99_percent_range)} if calibrated`, isMiscalibrated(posterior) ? "warning" : ""],
    ...beside("calibration_error")]);
  const d = data.difference;
  if (d) card(`UAR, posterior \u2212 ${em.name}`, signed(d.uar), [`95 % ${range(d.uar_interval, signed)} over speakers`, `McNemar p ${small(d.p)}`]);
}

// Verdict.
const convergence = data.convergence;
const hasConverged = convergence.share !== null && convergence.share >= convergence.share_asked_for;
{
  const verdict = $("verdict");
  if (!hasConverged) verdict.className = "bad";
  verdict.append(element("strong", hasConverged ? "The chains have converged." : "These scores should not be counted: the chains have not converged."),
    element("div", `${percent(convergence.share)} of ${convergence.pairs} (utterance, class) pairs have R-hat of at most ${convergence.most_rhat} and ` +
      `a bulk ESS of at least ${convergence.least_ess}; ${100 * convergence.share_asked_for} % are required.`));
  if (!hasConverged) verdict.append(element("span", "Give the chains a longer warm-up or more draws.", "advice"));
}

// Scores.
{
  const table = $("scores");
  table.append(row("th", ["", "UAR", "95 % interval", "mean UAR of speakers", "accuracy", "log loss", "Brier", "ECE", "ECE if calibrated", "its 99 % range", "calibration slope", "95 % interval", "macro-F1"]));
  for (const m of data.methods) {
    const line = row("td", [m.name, digits(m.uar), range(m.uar_interval), digits(m.mean_uar_of_speakers), digits(m.accuracy), digits(m.log_loss),
      digits(m.brier), digits(m.calibration_error), digits(m.calibration_error_if_calibrated), range(m.calibration_error_99_percent_range), digits(m.calibration_slope), range(m.calibration_slope_interval),
      digits(m.macro_f1)]);
    if (isMiscalibrated(m)) line.cells[7].className = "warning";
    table.append(line);
  }
  table.append(row("td", ["guessing, all classes alike", digits(chance), "", digits(chance), digits(chance), digits(Math.log(data.classes.length)),
    digits(1 - chance), "", "", "", "", "", ""]));
  const d = data.difference;
  if (d)
    $("difference").textContent = `Posterior minus ${em.name}: UAR ${signed(d.uar)} ${range(d.uar_interval, signed)} over speakers. ` +
      `${d.posterior_only} ${d.posterior_only === 1 ? "utterance is" : "utterances are"} right by the posterior alone, ${d.em_only} by ${em.name} alone: McNemar p ${small(d.p)}.`;
  else $("difference").remove();
}

// What is known of the speaker.
if (data.known.length) {
  const words = { own: "all recordings of the speaker", five: "five others", one: "one other", corpus: "no recording" };
  $("known").append(row("th", ["known", "UAR", "95 % interval", "less all recordings", "log loss", "Brier", "ECE", "its 99 % range if calibrated"]));
  for (const k of data.known) {
    const line = row("td", [words[k.knowledge] || k.knowledge, digits(k.uar), range(k.uar_interval),
      k.uar_less_own === undefined ? "" : `${signed(k.uar_less_own)} ${range(k.uar_less_own_interval, signed)}`,
      digits(k.log_loss), digits(k.brier), digits(k.calibration_error), range(k.calibration_error_99_percent_range)]);
    if (isMiscalibrated(k)) line.cells[6].className = "warning";
    $("known").append(line);
  }
} else $("known-section").remove();

// Utterances that are cut to several lengths.
if (data.cuts.length)
  $("cuts").append(row("th", ["", "cut to frames", "utterances", "accuracy", "mean confidence", "UAR", "log loss"]), ...data.cuts.map((c) =>
    row("td", [c.method, String(c.frames), String(c.utterances), digits(c.accuracy), digits(c.confidence), digits(c.uar), digits(c.log_loss)])));
else $("cuts-section").remove();

// Groups of utterances.
for (const { column, rows } of data.by) {
  const box = element("div", undefined, "scroll"), table = element("table");
  table.append(row("th", [column, "utterances", "speakers", "UAR", "95 % interval", "accuracy", "macro-F1", "log loss"]));
  for (const g of rows)
    table.append(row("td", [g.value === "" ? "(empty)" : g.value, String(g.utterances), String(g.speakers), digits(g.uar), range(g.uar_interval),
      digits(g.accuracy), digits(g.macro_f1), digits(g.log_loss)]));
  box.append(table);
  $("by").append(box);
}
if (!data.by.length) $("by-section").remove();

// Confusion.
function fillConfusion(m) {
  const table = $("confusion");
  table.replaceChildren(row("th", ["truth \\ predicted", ...data.classes, "recall"]));
  data.classes.forEach((name, t) => {
    const line = element("tr"), total = m.confusion[t].reduce((a, b) => a + b, 0);
    line.append(element("th", name));
    m.confusion[t].forEach((count, p) => {
      const share = total ? count / total : 0, cell = element("td", String(count));
      cell.append(element("small", total ? `${(100 * share).toFixed(0)} %` : "-"));
      cell.style.background = t === p ? `rgba(26, 127, 75, ${share})` : `rgba(180, 35, 24, ${share})`;
      if (share > 0.8) cell.style.color = "#fff";
      line.append(cell);
    });
    line.append(element("td", digits(m.recall[t]), "margin"));
    table.append(line);
  });
  const last = element("tr");
  last.append(element("th", "precision"), ...m.precision.map((x) => element("td", digits(x), "margin")), element("td", "", "margin"));
  table.append(last);
}
data.methods.forEach((m, i) => {
  const label = element("label"), choice = element("input");
  Object.assign(choice, { type: "radio", name: "method", checked: i === 0, id: "method-" + i });
  choice.addEventListener("change", () => fillConfusion(m));
  label.append(choice, " " + m.name);
  $("methods").append(label);
});
if (!em) $("methods").remove();
fillConfusion(posterior);

// Calibration.
{
  const all = data.rows.length;
  const datasets = data.methods.map((m, i) => {
    const bins = m.bins.filter((bin) => bin.count > 0 && bin.confidence !== null && bin.accuracy !== null);
    const radius = bins.map((bin) => 3 + 22 * Math.sqrt(bin.count / all));
    return { label: m.name, borderColor: colors[i], backgroundColor: colors[i] + "80", showLine: true, borderWidth: 1.5, pointRadius: radius, pointHoverRadius: radius,
      data: bins.map((bin) => ({ x: bin.confidence, y: bin.accuracy, count: bin.count })) };
  });
  datasets.push({ label: "calibrated", showLine: true, borderColor: "#7a8699", borderDash: [5, 4], data: [{ x: 0, y: 0 }, { x: 1, y: 1 }] });
  const label = ({ dataset, raw }) => `${dataset.label}: ${raw.count} utterances, confidence ${digits(raw.x)}, right ${digits(raw.y)}`;
  draw("reliability", { type: "scatter", data: { datasets }, options: {
    scales: { x: axis("confidence", { min: 0, max: 1 }), y: axis("share right", { min: 0, max: 1 }) },
    plugins: { legend: { labels: { boxWidth: 10 } }, tooltip: { filter: ({ raw }) => raw.count !== undefined, callbacks: { label } } } } });
  draw("confidence", { type: "bar",
    data: { labels: posterior.bins.map((_, i, bins) => `${(i / bins.length).toFixed(1)}\u2013${((i + 1) / bins.length).toFixed(1)}`),
      datasets: data.methods.map((m, i) => ({ label: m.name, backgroundColor: colors[i], data: m.bins.map((bin) => bin.count) })) },
    options: { scales: { x: { title: { display: true, text: "confidence" }, grid: { display: false } }, y: axis("utterances", { min: 0, ticks: { precision: 0 } }) },
      plugins: { legend: { labels: { boxWidth: 10 } } } } });
}

// Speakers.
const chanceLine = { id: "chance", afterDatasetsDraw({ ctx, chartArea: { left, right }, scales }) {
  const y = scales.y.getPixelForValue(chance);
  ctx.save();
  ctx.strokeStyle = "#1c2430";
  ctx.setLineDash([5, 4]);
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(right, y);
  ctx.stroke();
  ctx.restore();
} };
draw("speakers", { type: "bar", plugins: [chanceLine],
  data: { labels: data.speakers, datasets: data.methods.map((m, i) => ({ label: m.name, backgroundColor: colors[i], maxBarThickness: 40, data: m.by_speaker })) },
  options: { scales: { x: { grid: { display: false } }, y: axis("UAR", { min: 0, max: 1 }) }, plugins: { legend: { labels: { boxWidth: 10 } } } } });

// Chains.
$("chains-note").textContent = "Of log p(utterance | draws of a class), over the utterances that the class's chains did not see.";
$("chains").append(row("th", ["class", "converged", "worst R-hat", "least bulk ESS"]), ...data.classes.map((name, c) => {
  const { share, rhat, ess } = convergence.classes[c];
  const line = row("td", [name, percent(share), digits(rhat), digits(ess, 0)]);
  if (share === null || share < convergence.share_asked_for) line.cells[1].className = "fails";
  if (rhat === null || rhat > convergence.most_rhat) line.cells[2].className = "warning";
  if (ess === null || ess < convergence.least_ess) line.cells[3].className = "warning";
  return line;
}));
if (data.run.length) $("run").append(...data.run.map((fact) => row("td", fact)));
else $("run-box").remove();

// Utterances.
const isWrong = (row) => row[2] !== row[3];
const shownAs = (row) => [row[0], row[1], data.classes[row[2]], data.classes[row[3]], row[4], row[5]];
const utterances = sortableTable($("utterances"), data.rows,
  ["utterance", "speaker", "truth", "predicted", "p of truth", "p of predicted"].map((name) => [name, name === "p of predicted"]), {
    value: (row, i) => shownAs(row)[i],
    matches: (row) => (!$("only-wrong").checked || isWrong(row)) &&
      shownAs(row).slice(0, 4).some((text) => text.toLowerCase().includes($("filter").value.trim().toLowerCase())),
    shown: $("shown"),
    most: 1000,
    line(values) {
      const line = row("td", shownAs(values).map((x, i) => (i < 4 ? x : small(x))));
      line.cells[0].title = values[0];
      if (isWrong(values)) line.className = "wrong";
      return line;
    },
  });
$("filter").addEventListener("input", utterances.fill);
$("only-wrong").addEventListener("change", utterances.fill);

// For tests: whether all charts are drawn, the table sorts and filters, and the matrix follows the selected method.
window.selfTest = () => {
  const body = $("utterances").tBodies[0], heads = $("utterances").tHead.rows[0].cells;
  const column = (i) => [...body.rows].map((line) => line.cells[i].textContent);
  const result = { errors: window.reportErrors, charts: colorsOfCharts(), drawn: {}, first: column(0)[0] };
  for (const [id, chart] of Object.entries(charts))
    result.drawn[id] = chart.data.datasets.map((_, i) => chart.getDatasetMeta(i).data.filter((point) => !point.skip && point.height !== 0 && isFinite(point.y)).length);
  heads[4].click();
  const sorted = column(0).map((id) => data.rows.find((row) => row[0] === id)[4]);
  result.sorted = sorted.every((p, i) => i === 0 || p >= sorted[i - 1]);
  $("only-wrong").checked = true;
  utterances.fill();
  result.wrong = body.rows.length;
  result.marked = body.querySelectorAll("tr.wrong").length;
  $("filter").value = "no such utterance";
  utterances.fill();
  result.none = body.rows.length;
  $("filter").value = "";
  $("only-wrong").checked = false;
  utterances.unsort();
  const cells = () => [...$("confusion").querySelectorAll("td:not(.margin)")].map((cell) => Number(cell.firstChild.textContent));
  result.confusion = cells();
  if (em) {
    $("method-1").click();
    result.confusion_em = cells();
    $("method-0").click();
  }
  result.text = document.body.innerText;
  return result;
};
if (location.hash === "#selftest") document.documentElement.dataset.selftest = JSON.stringify(window.selfTest());
