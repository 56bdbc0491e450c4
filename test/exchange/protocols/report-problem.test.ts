/** The content of problem reports, sent and received. */
import { expect, test } from 'vitest'
import { Problem, problems, type ProblemType } from '../../../src/foundation/problem.ts'
import { codes, commentOf, ReportBody, toReport } from '../../../src/exchange/protocols/report-problem.ts'

test('every code is an error of a protocol, in the form of the specification', () => {
  for (const [type, code] of Object.entries(codes)) {
    expect(code, type).toMatch(/^e\.p(?:\.[a-z]+(?:-[a-z]+)*)+$/)
    expect(problems[type as ProblemType]).toBe(400)
  }
})

test('problems of unauthenticated messages and of repetitions are never reported', () => {
  for (const type of Object.keys(codes))
    expect(type).not.toMatch(
      /ThreadIdNotFound|SenderNotAllowed|InvalidState|InvalidFlowState|UnpackingFailed|Internal/,
    )
  expect(toReport(new Problem('error:DIDCommControllerError:SenderNotAllowed', 'no'))).toBeUndefined()
})

test('a report has the text of the problem, up to a length limit', () => {
  const report = toReport(
    new Problem('error:CredentialServiceError:InvalidCredentialOffer', 'x'.repeat(5_000)),
  )
  expect(report).toEqual({ code: 'e.p.msg.offer-refused', comment: 'x'.repeat(1_000) })
})

test('a comment has its arguments filled in, missing ones as a question mark', () => {
  const comment = (body: object) => commentOf(ReportBody.parse({ code: 'e.p.x', ...body }))
  expect(comment({ comment: 'no {1} at {2}, {1}', args: ['key', 7] })).toBe('no key at 7, key')
  expect(comment({ comment: '{1} {2} {9}', args: [{ a: 1 }, null] })).toBe('? ? ?')
  expect(comment({ comment: '{1}{1}'.repeat(200), args: ['x'.repeat(10_000)] })).toHaveLength(1_000)
  expect(comment({ comment: 'no\nverifier  bank.example\u001b[31m{1}', args: ['\u202ex'] })).toBe(
    'no verifier  bank.example [31m x',
  )
  expect([comment({}), comment({ comment: null }), comment({ comment: 'plain', args: null })]).toEqual([
    undefined,
    undefined,
    'plain',
  ])
})
