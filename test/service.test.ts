/** The state tables of the code are the tables of the service document (`fixtures/service/states.md`). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { connectionStates } from '../src/protocols/connection/states.ts'
import { credentialStates } from '../src/protocols/issue-credential/states.ts'
import { sessionStates } from '../src/enterprise/session.ts'
import type { Machine } from '../src/protocols/engine/machine.ts'
import { presentationStates } from '../src/protocols/present-proof/states.ts'

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

const sections: [string, Machine][] = [
  ['3.1', connectionStates],
  ['3.2', credentialStates],
  ['3.3', presentationStates],
]

test.each(sections)('the table of service §%s is the table of the code', (section, { rows, extensions }) => {
  const theirs = rows.slice(0, rows.length - extensions)
  expect(theirs.map(([role, from, , to]) => [role, from, to])).toEqual(table(section))
  expect(theirs.length).toBeGreaterThanOrEqual(8)
})

test.each(sections)('no state of §%s waits on two rows for one trigger', (_section, { rows }) => {
  const keys = rows.map(([role, from, on]) => `${role} ${from} ${on}`)
  expect(new Set(keys).size).toBe(keys.length)
})

test.each(sections)(
  'every debt of §%s is reported by a row after it, but for the last word of a flow',
  (_section, { rows }) => {
    for (const [role, , , to, then] of rows) {
      if (then === undefined || then === 'send problem-report') continue
      const report = then.startsWith('send ') ? 'sent' : 'made'
      expect(
        rows.some((row) => row[0] === role && row[1] === to && row[2] === report),
        `${then} from ${to}`,
      ).toBe(true)
    }
  },
)

test('the tables of service §3.5 are the tables of the code', () => {
  const ofCode = (role: string, rows: readonly (readonly [string | null, string, string])[]) =>
    rows.map(([from, , to]) => [role, from, to])
  expect([...ofCode('DID request', sessionStates), ...ofCode('Challenge', sessionStates)]).toEqual(
    table('3.5'),
  )
})
