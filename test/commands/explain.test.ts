import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { exitCodes } from '../../cli/errors/errors.ts'
import { exitCodeOf, toReport } from '../../cli/errors/report.ts'
import { explanations, findExplanations } from '../../cli/explain/explanations.ts'
import { meanings } from '../../cli/format/states.ts'
import { ProblemError } from '../../daemon/client/client.ts'
import { problems, type ProblemType } from '../../src/foundation/problem.ts'

const of = (kind: string) => explanations.filter((each) => each.kind === kind)
const found = (given: string) => findExplanations(given).map(({ name }) => name)

/** The problem-report codes that occur as literals in the source. */
function codesInSource(): string[] {
  const src = fileURLToPath(new URL('../../src', import.meta.url))
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const texts = files.map((file) => readFileSync(join(src, file), 'utf8'))
  return [
    ...new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/'([ew]\.[pm](?:\.[a-z0-9_-]+)+)'/g)].map(([, code]) => code!),
      ),
    ),
  ]
}

describe('explanations cover', () => {
  test('exactly the existing problem types', () => {
    expect(
      of('problem')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Object.keys(problems).toSorted())
  })

  test('every code of a problem report that the agent sends', () => {
    const codes = codesInSource()
    expect(codes.length).toBeGreaterThan(10)
    expect(codes.filter((code) => !found(code).includes(code))).toEqual([])
  })

  test('every state', () => {
    for (const [topic, states] of Object.entries(meanings))
      expect(
        of('state')
          .filter((each) => each.topic === topic)
          .map(({ name }) => name),
      ).toEqual(Object.keys(states))
  })

  test('every exit code', () => {
    expect(of('exit-code').map(({ name }) => Number(name))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 130])
  })

  test('an explanation states the event, the reason and the remedy in sentences', () => {
    for (const { name, what, why, do: remedy } of explanations)
      for (const text of [what, why, remedy]) expect(text, name).toMatch(/^.{3,}[.?`]$/)
  })
})

test('every exit code of a problem is in the table', () => {
  for (const [type, status] of Object.entries(problems))
    expect(Object.keys(exitCodes).map(Number)).toContain(exitCodeOf({ type, status }))
})

test.each([
  ['error:PresentationError:InvalidPresentation', ['error:PresentationError:InvalidPresentation']],
  ['invalidpresentation', ['error:PresentationError:InvalidPresentation']],
  ['not-allowed', ['Not Allowed']],
  ['/errors/authenticate/token-expired', ['/errors/authenticate/token-expired']],
  ['token-expired', ['/errors/authenticate/token-expired']],
  ['7', ['7']],
  ['DaemonUnreachable', ['7']],
  ['offer_received', ['OfferReceived']],
  ['RequestReceived', ['RequestReceived', 'RequestReceived']],
  ['e.p.xfer.cant-use-endpoint', ['e.p.xfer']],
  ['e.p.req.time.patience-lost', ['e.p.req.time']],
  ['nothing-of-the-kind', []],
])('%s matches %j', (given, names) => {
  expect(found(given)).toEqual(names)
})

test.each([
  ['InvalidFlowStateError', 'proof:list', 'agent explain error:PresentationError:InvalidFlowStateError'],
  ['InternalServerError', 'did:create', 'agent explain error:InternalServerError'],
  ['Conflict', 'did:update', 'agent explain Conflict'],
] as const)('an error without a specific hint refers to its explanation: %s', (name, id, hint) => {
  const type = Object.keys(problems).find((each) => each.endsWith(name)) as ProblemType
  const error = new ProblemError({ status: problems[type], type, title: 'Title', detail: 'because' })
  expect(toReport(error, id).hint).toBe(name === 'InvalidFlowStateError' ? 'agent proof show <id>' : hint)
})

test.each(['HTTP 500', 'about:blank', 'x$(reboot)', 'x\u001b[31m'])(
  'a type that cannot be typed is not: %j',
  (type) => {
    expect(
      toReport(new ProblemError({ status: 500, type, title: 'Title' }), 'did:create').hint,
    ).toBeUndefined()
  },
)
