/**
 * Writes `docs/reference/states.md`: the states of the protocols as Mermaid diagrams and tables. The page is
 * in git, because GitHub draws the diagrams; a test compares it with the code.
 */
import type { Machine, Row } from '../../src/definitions/machine.ts'
import { definitions } from '../../src/definitions/protocols.ts'

const titles: Record<(typeof definitions)[number]['name'], string> = {
  connection: 'Connections',
  'issue-credential': 'Credentials',
  'present-proof': 'Proofs',
}

export function statesPage(): string {
  return [
    '# States',
    '`npm run docs` writes this page from the state tables of the code (`src/definitions`). An arrow is named after what causes the step: a request to the API, a received message, or the end of a delivery (`sent`) or of a task (`made`). `agent explain <state>` describes a state, and `agent trace <record>` shows the steps of a record.',
    'The diagrams omit what can happen in many states, which the tables list: a state marked `expiry` ends when its time is over, such as `FLOW_EXPIRY`, one marked `report` by a problem report of the other side. Failures have the exit code 5, failed verifications 8.',
    ...definitions.flatMap((machine) => section(machine)),
  ]
    .join('\n\n')
    .concat('\n')
}

function section(machine: Machine): string[] {
  const title = titles[machine.name as keyof typeof titles]
  return [
    `## ${title}`,
    ...machine.roles.flatMap((role) => [`### ${title}: ${role}`, diagram(machine, role)]),
    `### States of ${title.toLowerCase()}`,
    table(machine),
  ]
}

/** The triggers that many states have, each with its word in the tables. */
const common = { 'flow expired': 'expiry', expired: 'expiry', 'received problem-report': 'report' }

function diagram({ rows, states }: Machine, role: string): string {
  const drawn = rows.filter((row) => row[0] === role && !(row[2] in common))
  const reached = drawn.filter(([, from]) => from !== 'ProblemReportPending' || drawn.some(isReport))
  const ends = [...new Set(reached.map(([, , , to]) => to))].filter(
    (state) => states[state]?.ends !== undefined,
  )
  const lines = [
    'stateDiagram-v2',
    ...reached.map(([, from, on, to]) => `  ${from ?? '[*]'} --> ${to}: ${label(on)}`),
    ...ends
      .filter((state) => !reached.some(([, from]) => from === state))
      .map((state) => `  ${state} --> [*]`),
  ]
  return `\`\`\`mermaid\n${lines.join('\n')}\n\`\`\``
}

const isReport = ([, , , to]: Row) => to === 'ProblemReportPending'

/** Mermaid reads braces and colons as its own; the last part of a path is enough to recognise a request. */
function label(on: string): string {
  const [, method, path] = /^(GET|POST|PATCH) (\/.*)$/.exec(on) ?? []
  if (path === undefined) return on
  return path.includes('{') ? `${method} …/${path.split('/').at(-1)}` : `${method} ${path}`
}

function table({ states, rows }: Machine): string {
  const lines = Object.entries(states).map(([name, { words, ends }]) => {
    const from = rows.filter((row) => row[1] === name)
    const roles = [...new Set(rows.filter((row) => row[3] === name).map(([role]) => role))]
    const ways = Object.entries(common).filter(([trigger]) => from.some(([, , on]) => on === trigger))
    const end = [...endWord(ends), ...new Set(ways.map(([, word]) => word))].join(', ')
    return `| \`${name}\` | ${roles.join(', ')} | ${words} | ${end} |`
  })
  return ['| state | role | meaning | end |', '|---|---|---|---|', ...lines].join('\n')
}

function endWord(ends: number | undefined): string[] {
  if (ends === undefined) return []
  return [ends === 0 ? 'success' : ends === 8 ? 'failed verification' : 'failure']
}
