// Sort a table by a click on a column's head; filter the rows of a long one by text and by verdict.
const FILTERED_FROM = 8;

function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a.localeCompare(b, 'en', { numeric: true });
}

function sort(table, head) {
  const up = head.getAttribute('aria-sort') !== 'ascending';
  for (const one of table.tHead.rows[0].cells) one.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  const rows = [...table.tBodies[0].rows], column = head.cellIndex;
  rows.sort((a, b) => (up ? 1 : -1) * compare(valueOf(a, column), valueOf(b, column)));
  table.tBodies[0].append(...rows);
}

function sortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    button.onclick = () => sort(table, head);
    head.replaceChildren(button);
  }
}

function filtered(table) {
  const rows = [...table.tBodies[0].rows], kinds = new Set(rows.flatMap(kindsOf));
  if (rows.length < FILTERED_FROM) return;
  const bar = document.createElement('div'), text = document.createElement('input');
  const chosen = document.createElement('select'), count = document.createElement('output');
  bar.className = 'filter';
  text.type = 'search';
  text.placeholder = 'Filter rows';
  text.setAttribute('aria-label', 'Filter rows');
  chosen.setAttribute('aria-label', 'Verdict');
  chosen.add(new Option('all verdicts', ''));
  for (const kind of kinds) chosen.add(new Option(kind, kind));
  const update = () => {
    const words = text.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const said = row.textContent.toLowerCase();
      row.hidden = !words.every(word => said.includes(word)) || (chosen.value && !kindsOf(row).includes(chosen.value));
    }
    const left = rows.filter(row => !row.hidden).length;
    count.textContent = left < rows.length ? `${left} of ${rows.length} rows` : `${rows.length} rows`;
  };
  text.oninput = chosen.onchange = update;
  bar.append(text, ...(kinds.size ? [chosen] : []), count);
  table.parentElement.before(bar);
  update();
}

function kindsOf(row) {
  return (row.dataset.kinds || '').split(';').filter(Boolean);
}

for (const table of document.querySelectorAll('.wide > table')) {
  sortable(table);
  filtered(table);
}
