"use strict";
// Shared by the pages of reports: the data inside the pages, tables and charts. Nothing is fetched.
window.reportErrors = [];
window.addEventListener("error", (event) => window.reportErrors.push(String(event.message)));

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const element = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const row = (tag, cells) => {
  const line = element("tr");
  for (const cell of cells) line.append(element(tag, cell));
  return line;
};

$("title").textContent = data.title;
$("facts").textContent = data.facts;
$("cite").textContent = data.cite;
$("bibtex").textContent = data.bibtex;
if (data.config) $("config").textContent = data.config;
else $("config-section").remove();

// A table that is sorted by a click on a column head; null is less than everything. `columns` has [name, whether the
// first click sorts in descending order]. `value(row, i)` is the sort key of column i, `line(row)` the tr element of a
// row, and `matches(row)` whether the row is shown. At most `most` rows are shown.
function sortableTable(table, rows, columns, { value, line, matches, shown, most = Infinity }) {
  let order = { column: -1, down: false };
  function fill() {
    let chosen = rows.filter(matches);
    if (order.column >= 0) {
      const key = (row) => value(row, order.column) ?? -Infinity;
      chosen = [...chosen].sort((a, b) => {
        const x = key(a), y = key(b);
        const less = typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x === y ? 0 : x - y;
        return order.down ? -less : less;
      });
    }
    table.tBodies[0].replaceChildren(...chosen.slice(0, most).map(line));
    shown.textContent = `${chosen.length} of ${rows.length}` + (chosen.length > most ? `, the first ${most} are shown` : "");
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      if (i === order.column) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }
  const head = row("th", columns.map(([name]) => name));
  [...head.cells].forEach((cell, i) => {
    cell.scope = "col";
    cell.addEventListener("click", () => {
      order = { column: i, down: order.column === i ? !order.down : columns[i][1] };
      fill();
    });
  });
  table.tHead.append(head);
  fill();
  return { fill, unsort() { order = { column: -1, down: false }; fill(); } };
}

// Charts.
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.size = 11;
Chart.defaults.elements.point.radius = 0;
Chart.defaults.elements.line.borderWidth = 1;
const charts = {};
function draw(id, config) {
  if (charts[id]) charts[id].destroy();
  charts[id] = new Chart($(id), config);
}
// Paper is narrower than the window.
window.addEventListener("beforeprint", () => { for (const chart of Object.values(charts)) chart.resize(); });
window.addEventListener("afterprint", () => { for (const chart of Object.values(charts)) chart.resize(); });
const axis = (text, more = {}) => ({ type: "linear", title: { display: true, text }, grid: { color: "#eef0f4" }, ...more });

// For tests: the number of colours in each chart.
function colorsOfCharts() {
  const result = {};
  for (const [id, chart] of Object.entries(charts)) {
    const canvas = chart.canvas;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colors = new Set();
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 0) colors.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    result[id] = colors.size;
  }
  return result;
}
