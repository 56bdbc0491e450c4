/**
 * Short URLs of one agent that another agent accepts over HTTP, and those of hosts that answer something
 * else.
 */
import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../support/agent.ts'
import {
  acceptOfferInvitation,
  acceptRequestInvitation,
  decode,
  encode,
  offerByInvitation,
} from '../support/invitation.ts'
import { startServer } from '../support/server.ts'
import { connectionIn, oobOf, refusal, type Tenant } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const theirs = await untilEnd(startAgent())
const mine = await untilEnd(startAgent())
const inviter = await theirs.newTenant()
const alice = await mine.newTenant()

const accept = (invitation: string, { call }: Pick<Tenant, 'call'> = alice) =>
  call('POST /connection-invitations', { body: { invitation } })
const invite = () => inviter.call('POST /connections', { body: { goal: 'a card' } })

test('an invitation to connect is accepted by its short URL, once', async () => {
  const made = await invite()
  const shortUrl = made.invitation.shortUrl!
  const accepted = await accept(` ${shortUrl}\n`)
  expect(accepted).toMatchObject({ thid: made.thid, goal: 'a card' })
  expect(decode(accepted)).toEqual(decode(made))
  expect(accepted.invitation).not.toHaveProperty('shortUrl')
  await connectionIn(inviter.call, made.thid, 'ConnectionResponseSent')
  const { host } = new URL(shortUrl)
  expect(await refusal(accept(shortUrl))).toMatchObject({
    status: 422,
    type: 'error:ShortLinkError:RetrievalFailed',
    detail: `The invitation could not be retrieved: ${host} does not have it: it was used or withdrawn, or it has expired. Ask for a new one.`,
  })
})

test('an offer and a proof request are accepted by their short URLs', async () => {
  const offer = await offerByInvitation(inviter)
  expect(await acceptOfferInvitation(alice, offer.invitation!.shortUrl!)).toMatchObject({ thid: offer.thid })
  const request = await inviter.call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
  const shortUrl = request.invitation!.shortUrl!
  expect(await refusal(acceptOfferInvitation(alice, shortUrl))).toMatchObject({
    status: 400,
    type: 'error:CredentialServiceError:InvitationParsingError',
    detail: expect.stringContaining('POST /present-proof/presentations/accept-invitation'),
  })
  expect(await acceptRequestInvitation(alice, shortUrl)).toMatchObject({ thid: request.thid })
})

test('a DID request and a challenge are answered by their short URLs', async () => {
  const asked = await inviter.call('POST /onboard/did-requests', { body: { from: 'Acme' } })
  const { did } = await alice.call('POST /onboard/answers', { body: { shortUrl: asked.shortUrl! } })
  const challenge = await inviter.call('POST /did-authentication/challenges', { body: { from: 'Acme' } })
  const body = { shortUrl: challenge.shortUrl!, did: did! }
  expect(
    await refusal(alice.call('POST /onboard/answers', { body: { shortUrl: challenge.shortUrl! } })),
  ).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/^shortUrl: what 127\.0\.0\.1:\d+ returned is not a DID request: /),
  })
  expect(await alice.call('POST /did-authentication/answers', { body })).toMatchObject({ did, from: 'Acme' })
  expect(
    await inviter.call('GET /did-authentication/challenges/{challengeId}', {
      path: { challengeId: challenge.id },
    }),
  ).toMatchObject({ state: 'success', did })
})

test('what a short URL returns is read without answering it', async () => {
  const read = (invitation: string) => alice.call('POST /invitation', { body: { invitation } })
  const made = await invite()
  const content = { purpose: 'connection', invitation: decode(made) }
  const short = await read(made.invitation.shortUrl!)
  expect(short).toMatchObject(content)
  expect(await read(oobOf(made))).toMatchObject(content)
  expect(await accept(short.oob!)).toMatchObject({ thid: made.thid })
  const { shortUrl, didRequest } = await inviter.call('POST /onboard/did-requests', { body: {} })
  expect(await read(shortUrl!)).toEqual({
    purpose: 'did-request',
    answer: { method: 'POST', path: '/onboard/answers', body: { didRequest } },
    sender: { address: new URL(didRequest.onboardEndpoint).host },
    didRequest,
  })
})

test('what a link has at a private address is not read in the internet', async () => {
  const open = await sharedAgent({
    REST_SERVICE_URL: 'https://agent.acme.example',
    DIDCOMM_SERVICE_URL: 'https://agent.acme.example',
  })
  const { call } = await open.newTenant()
  await using server = await startServer(() => expect.fail('The server was called'))
  for (const url of [server.url, `${server.url}/i?_oobid=x`, 'http://169.254.169.254/latest/meta-data'])
    expect(await refusal(call('POST /invitation', { body: { invitation: url } }))).toMatchObject({
      status: 422,
      type: 'error:ShortLinkError:RetrievalFailed',
    })
})

test('an agent reads its own short URLs without a request, also behind a proxy that hides them', async () => {
  const open = await sharedAgent({ REST_SERVICE_URL: 'https://agent.acme.example/base' })
  const [one, two] = [await open.newTenant(), await open.newTenant()]
  const { invitation, thid } = await one.call('POST /connections', { body: {} })
  expect(invitation.shortUrl).toMatch(/^https:\/\/agent\.acme\.example\/base\/i\?_oobid=/)
  expect(await accept(invitation.shortUrl!, two)).toMatchObject({ thid })
})

/** The refusal of a short URL of a server. */
async function refused(listener: RequestListener, by: Pick<Tenant, 'call'> = alice) {
  await using server = await startServer(listener)
  const problem = await refusal(accept(`${server.url}/any/path?a=b&_oobid=secret-id`, by))
  expect(JSON.stringify(problem)).not.toContain('secret')
  return `${problem.status} ${problem.detail}`.replaceAll(new URL(server.url).host, 'HOST')
}
const json =
  (value: unknown): RequestListener =>
  (_, response) =>
    void response.end(JSON.stringify(value))

test.each<[string, RequestListener, RegExp]>([
  [
    'a page',
    (_, response) => void response.end('<html>secret</html>'),
    /^422 .*HOST answered with something that is not JSON\.$/,
  ],
  [
    'other JSON',
    json({ type: 'secret', id: 'secret' }),
    /^400 What HOST returned is not an invitation: type: is not an out-of-band/,
  ],
  [
    '10 MB',
    (_, response) => void response.end('"' + 'secret '.repeat(1_500_000) + '"'),
    /^422 .*HOST answered with more than 262144 bytes\.$/,
  ],
  [
    'a redirect loop',
    (request, response) => void response.writeHead(302, { location: request.url! }).end(),
    /^422 .*HOST answered with a redirect, and its target did not/,
  ],
  [
    'a server error',
    (_, response) => void response.writeHead(500).end('secret'),
    /^422 .*HOST answered with status 500\.$/,
  ],
  [
    'gone',
    (_, response) => void response.writeHead(410).end('secret'),
    /^422 .*HOST does not have it: it was used/,
  ],
  [
    'a redirect to a file',
    (_, response) => void response.writeHead(302, { location: 'file:///secret' }).end(),
    /^422 .*HOST answered with a redirect/,
  ],
  [
    'a redirect to a private network',
    (_, response) => void response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end(),
    /^422 .*HOST answered with a redirect, and its target is at an address of a private network/,
  ],
])('a host that answers with %s is refused, without repeating its text', async (_, listener, detail) => {
  expect(await refused(listener)).toMatch(detail)
})

test('a host that never ends its answer is given up', { timeout: 30_000 }, async () => {
  expect(await refused((_, response) => void response.writeHead(200).write('{'))).toMatch(
    /^422 .*HOST did not answer within 10000 ms\.$/,
  )
})

test('a redirect to a long URL is the invitation, and others are followed', async () => {
  const made = await invite()
  await using server = await startServer((request, response) => {
    const location = request.url!.startsWith('/s?') ? '/next' : `didcomm://x?_oob=${encode(decode(made))}`
    response.writeHead(302, { location }).end()
  })
  expect(await accept(`${server.url}/s?_oobid=1`)).toMatchObject({ thid: made.thid })
})

test('a public agent does not retrieve from private addresses', async () => {
  const open = await sharedAgent({ REST_SERVICE_URL: 'https://agent.acme.example' })
  const tenant = await open.newTenant()
  let requests = 0
  expect(await refused((_, response) => void response.end(`${requests++}`), tenant)).toMatch(
    /^422 .*is an address of a private network or of this machine/,
  )
  expect(requests).toBe(0)
})
