/** The state tables of the code match the documented ones (`fixtures/service/states.md`). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { connectionStates } from '../src/definitions/connection.ts'
import { credentialStates } from '../src/definitions/issue-credential.ts'
import { sessionStates } from '../src/exchange/enterprise/session.ts'
import type { Machine } from '../src/definitions/machine.ts'
import { presentationStates } from '../src/definitions/present-proof.ts'

const document = readFileSync(new URL('../fixtures/service/states.md', import.meta.url), 'utf8')

/** The (role, from, to) triples of one table of the document, in the order of its rows. */
function table(section: string): (string | null)[][] {
  const begin = document.indexOf(`## ${section} `)
  const text = document.slice(begin, document.indexOf('\n## ', begin) >>> 0)
  return [...text.matchAll(/^\| (?!role|---)(.+) \|$/gm)].map(([, row]) => {
    const [role, from, , to] = row!.split(' | ')
    return [role!.replace('Holder/Prover', 'Prover'), from === '(none)' ? null : from!, to!]
  })
}

const protocols: [name: string, section: string, Machine][] = [
  ['connection', '3.1', connectionStates],
  ['issue-credential', '3.2', credentialStates],
  ['present-proof', '3.3', presentationStates],
]

test.each(protocols)(
  'the documented state table of the %s protocol matches the code',
  (_name, section, { rows, extensions }) => {
    const standard = rows.slice(0, rows.length - extensions)
    expect(standard.map(([role, from, , to]) => [role, from, to])).toEqual(table(section))
    expect(standard.length).toBeGreaterThanOrEqual(8)
  },
)

test.each(protocols)(
  'no state of the %s protocol has two rows for one trigger',
  (_name, _section, { rows }) => {
    const keys = rows.map(([role, from, on]) => `${role} ${from} ${on}`)
    expect(new Set(keys).size).toBe(keys.length)
  },
)

test.each(protocols)(
  'every job of the %s protocol is reported by a later row, except the last message',
  (_name, _section, { rows }) => {
    for (const [role, , , to, then] of rows) {
      if (then === undefined || then === 'send problem-report') continue
      const later = rows.filter((row) => row[0] === role && row[1] === to)
      // A request to a server ends with its response. The last one needs none.
      const reports = then.startsWith('send ') ? /^sent$/ : /^(?:made|(?:received|delivered) .*)$/
      const isLast = then.startsWith('make ') && later.length === 0
      expect(isLast || later.some(([, , on]) => reports.test(on)), `${then} from ${to}`).toBe(true)
    }
  },
)

test('the documented state tables of sessions match the code', () => {
  const ofCode = (role: string, rows: readonly (readonly [string | null, string, string])[]) =>
    rows.map(([from, , to]) => [role, from, to])
  expect([...ofCode('DID request', sessionStates), ...ofCode('Challenge', sessionStates)]).toEqual(
    table('3.5'),
  )
})
