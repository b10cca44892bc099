// The page of a regression, made from the data inside it: dimensions (name, scores, by_speaker, known, by), levels and
// the share of true numbers inside intervals of each, and rows (utterance, speaker, then for each dimension truth, mean,
// sd, low, high). null stands for a number that is not finite.

const palette = ["#3b6fb6", "#d98a29", "#1a7f4b", "#b42318", "#7b4fa3", "#1f8a99", "#a0522d", "#5b6b1f", "#c2497f", "#5a6472"];
const colorOf = (i) => palette[i % palette.length];
const digits = (x, n = 3) => (x === null ? "-" : x.toFixed(n));
// Numbers in the unit of a dimension, which may be of any magnitude: three decimals, or three significant digits if
// these are more.
const inUnit = (x) => (x === null ? "-" : x !== 0 && Math.abs(x) < 0.1 ? x.toPrecision(3) : x.toFixed(3));
const signed = (x) => (x === null ? "-" : (x < 0 ? "\u2212" : "+") + Math.abs(x).toFixed(3));
const range = ([low, high], text = (x) => digits(x)) => (low === null || high === null ? "-" : `[${text(low)}, ${text(high)}]`);
const words = { own: "all recordings of the speaker", five: "five others", one: "one other", corpus: "no recording" };
// Where the numbers of dimension d begin in a row.
const first = (d) => 2 + 5 * d;
// Whether 90 % is outside the interval of the coverage.
const isMiscovered = ({ coverage_90_interval: [low, high] }) => low !== null && high !== null && (low > 0.9 || high < 0.9);

// Headline.
for (const { name, scores } of data.dimensions) {
  const box = element("div", undefined, "card");
  box.append(element("span", `CCC, ${name}`), element("b", digits(scores.ccc)),
    element("span", `95 % ${range(scores.ccc_interval)} over speakers`), element("span", `RMSE ${inUnit(scores.rmse)}`),
    element("span", `90 % intervals cover ${digits(scores.coverage_90)}`, isMiscovered(scores) ? "warning" : ""));
  $("cards").append(box);
}

// Scores.
$("scores").append(row("th", ["", "CCC", "95 % interval", "mean CCC of speakers", "Pearson r", "RMSE", "95 % interval", "MAE",
  "90 % coverage", "95 % interval", "log density"]));
for (const { name, scores: s } of data.dimensions)
  $("scores").append(row("td", [name, digits(s.ccc), range(s.ccc_interval), digits(s.mean_ccc_of_speakers),
    digits(s.pearson), inUnit(s.rmse), range(s.rmse_interval, inUnit), inUnit(s.mae), digits(s.coverage_90), range(s.coverage_90_interval), digits(s.log_density)]));

// A figure with a chart of its own below `parent`.
function figureOf(parent, id, caption) {
  const figure = element("figure"), box = element("div", undefined, "chart square"), canvas = element("canvas");
  canvas.id = id;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", caption);
  box.append(canvas);
  figure.append(element("figcaption", caption), box);
  $(parent).append(figure);
}

// Truth and prediction.
data.dimensions.forEach(({ name }, d) => {
  const at = first(d), id = `scatter-${d}`;
  figureOf("scatters", id, name);
  const numbers = data.rows.flatMap((line) => [line[at], line[at + 1]]);
  const low = numbers.reduce((a, b) => Math.min(a, b)), high = numbers.reduce((a, b) => Math.max(a, b));
  const margin = 0.05 * (high - low || 1), ends = [low - margin, high + margin];
  const half = data.rows.reduce((sum, line) => sum + (line[at + 4] - line[at + 3]) / 2, 0) / data.rows.length;
  const datasets = data.speakers.map((speaker, s) => ({ label: speaker, backgroundColor: colorOf(s) + "b0", pointRadius: 3.5, pointHoverRadius: 5,
    data: data.rows.filter((line) => line[1] === speaker).map((line) => ({ x: line[at], y: line[at + 1], name: line[0], sd: line[at + 2] })) }));
  const line = (label, shift, more) => ({ label, showLine: true, borderColor: "#7a8699", data: ends.map((x) => ({ x, y: x + shift })), ...more });
  datasets.push(line("truth", 0, { borderDash: [5, 4] }), line("90 % above", half, { borderWidth: 0, backgroundColor: "#7a869920", fill: "+1" }),
    line("90 % below", -half, { borderWidth: 0 }));
  const label = ({ raw }) => `${raw.name}: truth ${inUnit(raw.x)}, predicted ${inUnit(raw.y)}, sd ${inUnit(raw.sd)}`;
  const isSpeaker = ({ datasetIndex }) => datasetIndex < data.speakers.length;
  draw(id, { type: "scatter", data: { datasets }, options: {
    scales: { x: axis("truth", { min: ends[0], max: ends[1] }), y: axis("predicted", { min: ends[0], max: ends[1] }) },
    plugins: { legend: { display: data.speakers.length <= palette.length, labels: { boxWidth: 10, filter: isSpeaker } },
      tooltip: { filter: ({ raw }) => raw.name !== undefined, callbacks: { label } } } } });
});

// Coverage.
data.dimensions.forEach(({ name, covered }, d) => {
  const id = `coverage-${d}`;
  figureOf("coverages", id, name);
  draw(id, { type: "scatter", data: { datasets: [
    { label: name, showLine: true, borderColor: colorOf(0), borderWidth: 1.5, pointRadius: 3, backgroundColor: colorOf(0),
      data: data.levels.map((x, i) => ({ x, y: covered[i] })) },
    { label: "calibrated", showLine: true, borderColor: "#7a8699", borderDash: [5, 4], data: [{ x: 0, y: 0 }, { x: 1, y: 1 }] }] },
    options: { scales: { x: axis("probability of the interval", { min: 0, max: 1 }), y: axis("share inside", { min: 0, max: 1 }) },
      plugins: { legend: { labels: { boxWidth: 10 } } } } });
});

// Groups of utterances.
for (const { name, by } of data.dimensions)
  for (const { column, rows } of by) {
    const box = element("div", undefined, "scroll"), table = element("table");
    table.append(row("th", [`${name} by ${column}`, "utterances", "speakers", "CCC", "95 % interval", "RMSE", "90 % coverage", "log density"]));
    for (const { value, utterances, speakers, scores: s } of rows)
      table.append(row("td", [value === "" ? "(empty)" : value, String(utterances), String(speakers), digits(s.ccc), range(s.ccc_interval),
        inUnit(s.rmse), digits(s.coverage_90), digits(s.log_density)]));
    box.append(table);
    $("by").append(box);
  }
if (!$("by").children.length) $("by-section").remove();

// What is known of the speaker.
$("known").append(row("th", ["", "known", "CCC", "95 % interval", "less all recordings", "RMSE", "90 % coverage", "log density"]));
for (const { name, known } of data.dimensions)
  for (const { knowledge, scores: k } of known)
    $("known").append(row("td", [name, words[knowledge] || knowledge, digits(k.ccc), range(k.ccc_interval),
      k.ccc_less_own === undefined ? "" : `${signed(k.ccc_less_own)} ${range(k.ccc_less_own_interval, signed)}`, inUnit(k.rmse), digits(k.coverage_90),
      digits(k.log_density)]));

// Speakers.
draw("speakers", { type: "bar",
  data: { labels: data.speakers, datasets: data.dimensions.map(({ name, by_speaker }, d) => ({ label: name, backgroundColor: colorOf(d), maxBarThickness: 40, data: by_speaker })) },
  options: { scales: { x: { grid: { display: false } }, y: axis("CCC", { suggestedMin: 0, max: 1 }) }, plugins: { legend: { labels: { boxWidth: 10 } } } } });

if (data.run.length) $("run").append(...data.run.map((fact) => row("td", fact)));
else $("run-box").remove();

// Utterances.
const isOutside = (line) => data.dimensions.some((_, d) => line[first(d)] < line[first(d) + 3] || line[first(d)] > line[first(d) + 4]);
const columns = [["utterance", false], ["speaker", false]];
for (const { name } of data.dimensions) columns.push([name, true], [`${name}, predicted`, true], ["sd", true], ["90 % from", true], ["to", true]);
const utterances = sortableTable($("utterances"), data.rows, columns, {
  value: (line, i) => line[i],
  matches: (line) => (!$("only-outside").checked || isOutside(line)) &&
    line.slice(0, 2).some((text) => text.toLowerCase().includes($("filter").value.trim().toLowerCase())),
  shown: $("shown"),
  most: 1000,
  line(values) {
    const line = row("td", values.map((x, i) => (i < 2 ? x : inUnit(x))));
    line.cells[0].title = values[0];
    if (isOutside(values)) line.className = "outside";
    return line;
  },
});
$("filter").addEventListener("input", utterances.fill);
$("only-outside").addEventListener("change", utterances.fill);

// For tests: whether all charts are drawn, and whether the table sorts and filters.
window.selfTest = () => {
  const body = $("utterances").tBodies[0], heads = $("utterances").tHead.rows[0].cells;
  const result = { errors: window.reportErrors, charts: colorsOfCharts(), drawn: {} };
  for (const [id, chart] of Object.entries(charts))
    result.drawn[id] = chart.data.datasets.map((_, i) => chart.getDatasetMeta(i).data.filter((point) => !point.skip && point.height !== 0 && isFinite(point.y)).length);
  heads[3].click();
  const sorted = [...body.rows].map((line) => data.rows.find((one) => one[0] === line.cells[0].textContent)[3]);
  result.sorted = sorted.every((x, i) => i === 0 || x <= sorted[i - 1]);
  $("only-outside").checked = true;
  utterances.fill();
  result.outside = body.rows.length;
  $("filter").value = "no such utterance";
  utterances.fill();
  result.none = body.rows.length;
  $("filter").value = "";
  $("only-outside").checked = false;
  utterances.unsort();
  result.text = document.body.innerText;
  return result;
};
if (location.hash === "#selftest") document.documentElement.dataset.selftest = JSON.stringify(window.selfTest());
