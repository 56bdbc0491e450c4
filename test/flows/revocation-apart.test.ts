/**
 * A verifier at another agent than the issuer: the status list is fetched over the network, or is not
 * available.
 */
import type { RequestListener } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { startServer } from '../support/server.ts'
import { connect, issue, newDid, presentationIn, until } from '../support/tenants.ts'
import { present, refusalOf, statusOf } from './_revocation.ts'
import { untilEnd } from '../support/shared.ts'

/** A server at the address of the issuer's agent. The test sets its responses. */
const hosts: { asked: number; answer: RequestListener } = {
  asked: 0,
  answer: (_, response) => void response.writeHead(500).end(),
}
const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))

const server = await untilEnd(
  startServer((request, response) => {
    hosts.asked++
    hosts.answer(request, response)
  }),
)
const shared = { VDR_URL: `sqlite:${join(folder, 'vdr.db')}` }
const registry = `${server.url}/registry/`
const home = await untilEnd(startAgent({ ...shared, POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL: registry }))
const away = await untilEnd(startAgent(shared))
const issuer = await home.newTenant('issuer')
const holder = await away.newTenant('holder')
const verifier = await away.newTenant('verifier')
const issuerConnection = (await connect(issuer, holder)).inviterConnectionId
const connectionId = (await connect(verifier, holder)).inviterConnectionId
const issuingDID = (await newDid(issuer, 'assertionMethod')).did
const subjectId = (await newDid(holder, 'authentication')).did
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})

const list = async (credential: string) =>
  (
    await fetch(
      `${home.url}/credential-status/${statusOf(credential).statusListCredential.split('/').at(-1)}`,
    )
  ).text()
const text =
  (body: string, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(body)

let credential: Awaited<ReturnType<typeof issue>>
beforeEach(async () => {
  credential = await issue(issuer, holder, issuerConnection, issuingDID, subjectId)
  hosts.asked = 0
})
const show = (statusCheck?: 'required' | 'if-available' | 'off') =>
  present(verifier, holder, { connectionId, ...(statusCheck && { statusCheck }) }, credential.recordId)
const revoke = () =>
  issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: credential.issuerRecordId } })

test('the list is fetched from the credential’s URL, once for all credentials of a presentation', async () => {
  expect(statusOf(credential.credential).statusListCredential).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/registry\/credential-status\/\w+$/,
  )
  const body = await list(credential.credential)
  hosts.answer = text(body)
  const { recordId, credential: other } = await issue(issuer, holder, issuerConnection, issuingDID, subjectId)
  expect(statusOf(other).statusListCredential).toBe(statusOf(credential.credential).statusListCredential)
  const both = [credential.recordId, recordId]
  await presentationIn(
    verifier.call,
    await present(verifier, holder, { connectionId }, ...both),
    'PresentationVerified',
  )
  expect(hosts.asked).toBe(1)
})

test('a newly revoked credential is refused', async () => {
  hosts.answer = text(await list(credential.credential))
  await presentationIn(verifier.call, await show(), 'PresentationVerified')
  await revoke()
  hosts.answer = text(await list(credential.credential))
  expect(await refusalOf(verifier, await show())).toMatch(/the credential is revoked/)
})

test('during an outage of the host the prover’s agent retries, and verification succeeds afterwards', async () => {
  const body = await list(credential.credential)
  hosts.answer = (request, response) => (hosts.asked < 2 ? text('', 503) : text(body))(request, response)
  const thid = await show()
  await presentationIn(verifier.call, thid, 'PresentationVerified')
  expect(hosts.asked).toBeGreaterThan(1)
})

test('during an outage of the host presentations fail, unless the request accepts unknown revocation', async () => {
  hosts.answer = text('', 503)
  const thid = await show()
  const { presentationId } = await presentationIn(holder.call, thid, 'PresentationGenerated')
  await until(
    'an attempt',
    () => Promise.resolve(hosts.asked),
    (asked) => asked > 0,
  )
  const failed = await until(
    'the stored failure',
    () => holder.call('GET /present-proof/presentations/{presentationId}', { path: { presentationId } }),
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
  expect([failed.status, failed.metaLastFailure!.detail]).toEqual([
    'PresentationGenerated',
    expect.stringContaining('503'),
  ])
  expect((await presentationIn(verifier.call, thid, 'RequestSent')).data).toEqual([])
  for (const policy of ['if-available', 'off'] as const) {
    await presentationIn(verifier.call, await show(policy), 'PresentationVerified')
  }
})

const answers: [string, RegExp, () => RequestListener, softened: boolean][] = [
  ['does not exist', /status 404/, () => text('', 404), true],
  [
    'is redirected',
    /status 302/,
    () => (_, response) => void response.writeHead(302, { location: `${home.url}/x` }).end(),
    true,
  ],
  ['is too large', /more than/, () => text(' '.repeat(2_000_000)), true],
  ['is malformed', /not JSON/, () => text('{}}'), false],
  [
    'is forged',
    /not signed/,
    () => async (_, response) => {
      const genuine = JSON.parse(await list(credential.credential)) as object
      response.end(JSON.stringify({ ...genuine, issuanceDate: '2020-01-01T00:00:00Z' }))
    },
    false,
  ],
]
test.each(answers)('a credential whose list %s is refused', async (_, why, answer, isSoftened) => {
  hosts.answer = answer()
  expect(await refusalOf(verifier, await show())).toMatch(why)
  const soft = await show('if-available')
  await presentationIn(
    verifier.call,
    soft,
    isSoftened ? 'PresentationVerified' : 'PresentationVerificationFailed',
  )
})

test('a list at a forbidden address is not requested', async () => {
  const strict = await startAgent({ VDR_URL: `sqlite:${join(folder, 'vdr.db')}`, AGENT_HOST: '127.0.0.1' })
  try {
    for (const url of [
      'http://10.0.0.1/l',
      'http://169.254.169.254/l',
      'http://[::ffff:10.0.0.1]/l',
      'ftp://127.0.0.1/l',
      'file:///etc/passwd',
    ]) {
      await expect(strict.agent.env.getStatusList(url, 'StatusList2021Entry')).rejects.toMatchObject({
        code: expect.stringMatching(/^(address-not-allowed|bad-url)$/),
      })
    }
  } finally {
    await strict[Symbol.asyncDispose]()
  }
})
