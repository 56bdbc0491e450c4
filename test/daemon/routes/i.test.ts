/** Short URLs of invitations, DID requests and challenges, over HTTP. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { newFolder } from '../../support/folder.ts'
import {
  acceptOffer,
  acceptOfferInvitation,
  acceptRequestInvitation,
  decode,
  offerByInvitation,
} from '../../support/invitation.ts'
import { credentialIn, oobOf, until, type Tenant } from '../../support/tenants.ts'
import { backUp, restore } from '../../operations/backup/_backup.ts'
import { newHolder } from '../../exchange/enterprise/_suite.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())
const owner = await agent.newTenant('owner')
const other = await agent.newTenant('other')

type Made = {
  /** What the short URL returns. */
  document: unknown
  shortUrl: string
  /** The title of its page. */
  title: string
  /** Answers it, so that it is used. */
  answer: () => Promise<unknown>
  /** Reads the record again. */
  read: () => Promise<unknown>
  remove?: () => Promise<unknown>
}

const post = (url: string, body: unknown) => fetch(url, { method: 'POST', body: JSON.stringify(body) })
const holder = newHolder()

const kinds: Record<string, (tenant: Tenant, invitee: Tenant) => Promise<Made>> = {
  async 'an invitation to connect'({ call }, invitee) {
    const made = await call('POST /connections', { body: { goal: 'a staff card' } })
    const path = { connectionId: made.connectionId }
    const read = () => call('GET /connections/{connectionId}', { path })
    return {
      document: decode(made),
      shortUrl: made.invitation.shortUrl!,
      title: 'You are invited to connect',
      answer: async () => {
        await invitee.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
        await until('the request', read, ({ state }) => state !== 'InvitationGenerated')
      },
      read: async () => (await read()).invitation.shortUrl,
      remove: () => call('DELETE /connections/{connectionId}', { path }),
    }
  },
  async 'a credential offer'(tenant, invitee) {
    const made = await offerByInvitation(tenant)
    const read = () =>
      tenant.call('GET /issue-credentials/records/{recordId}', { path: { recordId: made.recordId } })
    return {
      document: decode(made),
      shortUrl: made.invitation!.shortUrl!,
      title: 'You are offered a credential',
      answer: async () => {
        const { recordId } = await acceptOfferInvitation(invitee, oobOf(made))
        await acceptOffer(invitee, recordId)
        await until('the request', read, ({ protocolState }) => protocolState !== 'InvitationGenerated')
      },
      read: async () => (await read()).invitation!.shortUrl,
    }
  },
  async 'a proof request'(tenant, invitee) {
    const { call } = tenant
    const made = await call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
    const path = { presentationId: made.presentationId }
    const read = () => call('GET /present-proof/presentations/{presentationId}', { path })
    return {
      document: decode(made),
      shortUrl: made.invitation!.shortUrl!,
      title: 'You are asked for a proof',
      answer: async () => {
        const { presentationId } = await acceptRequestInvitation(invitee, oobOf(made))
        const offer = await offerByInvitation(tenant)
        const { recordId } = await acceptOfferInvitation(invitee, oobOf(offer))
        await acceptOffer(invitee, recordId)
        await credentialIn(invitee.call, offer.thid, 'CredentialReceived')
        await invitee.call('PATCH /present-proof/presentations/{presentationId}', {
          path: { presentationId },
          body: { action: 'request-accept', proofId: [recordId] },
        })
        await until('the answer', read, ({ status }) => status !== 'InvitationGenerated')
      },
      read: async () => (await read()).invitation!.shortUrl,
    }
  },
  async 'a DID request'({ call }) {
    const made = await call('POST /onboard/did-requests', { body: { from: 'Acme' } })
    const path = { didRequestId: made.id }
    return {
      document: made.didRequest,
      shortUrl: made.shortUrl!,
      title: '<bdi>“Acme”</bdi> asks for your DID',
      answer: () => post(made.didRequest.onboardEndpoint, { did: holder.did }),
      read: async () => (await call('GET /onboard/did-requests/{didRequestId}', { path })).shortUrl,
      remove: () => call('DELETE /onboard/did-requests/{didRequestId}', { path }),
    }
  },
  async 'a challenge'({ call }) {
    const made = await call('POST /did-authentication/challenges', { body: { from: 'Acme' } })
    const path = { challengeId: made.id }
    return {
      document: made.challenge,
      shortUrl: made.shortUrl!,
      title: '<bdi>“Acme”</bdi> asks you to sign in',
      answer: () => post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce)),
      read: async () => (await call('GET /did-authentication/challenges/{challengeId}', { path })).shortUrl,
      remove: () => call('DELETE /did-authentication/challenges/{challengeId}', { path }),
    }
  },
}

const idOf = (url: string) => new URL(url).searchParams.get('_oobid')!

async function get(url: string, accept = 'application/json') {
  const response = await fetch(url, { headers: { accept }, redirect: 'manual' })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), text }
}
const statusOf = async (url: string) => (await get(url)).status

/** The status of a short URL at an agent, whose port may be another one than that of the URL. */
const statusAt = ({ url }: TestAgent, shortUrl: string) =>
  statusOf(url + new URL(shortUrl).pathname + new URL(shortUrl).search)

describe.each(Object.entries(kinds))('the short URL of %s', (_, create) => {
  test('returns its JSON, or a page with the QR code of the short URL', async () => {
    const { document, shortUrl, title, read } = await create(owner, other)
    expect(shortUrl.replace(agent.url, '')).toMatch(/^\/i\?_oobid=[\w-]{16}$/)
    for (const accept of ['application/json', '*/*', 'application/didcomm-plain+json']) {
      const { status, type, text } = await get(shortUrl, accept)
      expect([status, type, JSON.parse(text)]).toEqual([200, 'application/json', document])
    }
    const page = await get(shortUrl, 'text/html,*/*;q=0.8')
    expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toContain(`>${title}</h1>`)
    expect(page.text).toContain(`>${shortUrl}</textarea>`)
    // A QR code of version 4 has 33 × 33 modules, and a quiet zone of 4 on each side.
    const [, size] = /viewBox="0 0 (\d+) \1"/.exec(page.text)!
    expect(Number(size)).toBeLessThanOrEqual(33 + 2 * 4)
    expect(await read()).toBe(shortUrl)
  })

  test('is closed once it is answered', async () => {
    const { shortUrl, answer } = await create(owner, other)
    await answer()
    const { status, text } = await get(shortUrl)
    expect([status, JSON.parse(text).status]).toEqual([410, 410])
    expect((await get(shortUrl, 'text/html')).text).toContain('<h1>This link is closed</h1>')
  })

  test('is closed once it is withdrawn', async () => {
    const { shortUrl, remove } = await create(owner, other)
    await remove?.()
    expect(await statusOf(shortUrl)).toBe(remove ? 410 : 200)
  })
})

test('an invitation that was accepted has no short URL', async () => {
  const made = await owner.call('POST /connections', { body: {} })
  const accepted = await other.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  expect(accepted.invitation).not.toHaveProperty('shortUrl')
  expect(made.invitation.shortUrl).toBeDefined()
})

test('ids that this agent did not make are all answered alike', async () => {
  const { shortUrl } = await kinds['a DID request']!(owner, other)
  const id = idOf(shortUrl)
  const bytes = Buffer.from(id, 'base64url')
  const flipped = Array.from({ length: 96 }, (_, bit) => {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    return changed.toString('base64url')
  })
  const malformed = [
    '',
    id.slice(1),
    `${id}A`,
    `${id.slice(0, -1)}.`,
    `${id}%00`,
    'é'.repeat(16),
    'A'.repeat(9_000),
  ]
  const replies = new Set<string>()
  for (const unknown of [...flipped, ...malformed, `${id}&_oobid=${id}`]) {
    const { status, text } = await get(`${agent.url}/i?_oobid=${unknown}`)
    const { instance: _instance, ...problem } = JSON.parse(text)
    replies.add(`${status} ${JSON.stringify(problem)}`)
  }
  expect(replies.size).toBe(1)
  expect([...replies][0]).toMatch(/^404 .*ShortLinkError:LinkNotFound/)
  expect(await statusOf(`${agent.url}/i`)).toBe(404)
  expect(await statusOf(shortUrl)).toBe(200)
})

test('the link of a deleted tenant is unknown, and those of other tenants are open', async () => {
  const gone = await agent.newTenant('gone')
  const [theirs, mine] = [
    await gone.call('POST /connections', { body: {} }),
    await owner.call('POST /connections', { body: {} }),
  ]
  await agent.admin('DELETE /wallets/{walletId}', { path: { walletId: gone.walletId } })
  expect(await statusOf(theirs.invitation.shortUrl!)).toBe(404)
  expect(await statusOf(mine.invitation.shortUrl!)).toBe(200)
})

test('requests of one address are limited', async () => {
  const limited = await sharedAgent({ SHORT_URL_REQUESTS_PER_MINUTE: '2' })
  const { invitation } = await limited.tenant('POST /connections', { body: {} })
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push(await statusOf(invitation.shortUrl!))
  expect(statuses).toEqual([200, 200, 429])
})

test('a restart and a restored backup keep short URLs open, as long as they were made for', async () => {
  const [dataDir, restored, backup] = [newFolder(), newFolder(), join(newFolder(), 'backup')]
  const urls: string[] = []
  {
    await using first = await startAgent({}, { dataDir })
    const tenant = await first.newTenant()
    const short = await tenant.call('POST /connections', { body: { expiresIn: 1 } })
    urls.push(short.invitation.shortUrl!)
    for (const create of Object.values(kinds)) urls.push((await create(tenant, tenant)).shortUrl)
    await until(
      'the end of the first invitation',
      () => statusOf(urls[0]!),
      (status) => status === 410,
    )
    await backUp(first, backup, true)
  }
  const statuses = (at: TestAgent) => Promise.all(urls.map((url) => statusAt(at, url)))
  {
    await using again = await startAgent({}, { dataDir })
    expect(await statuses(again)).toEqual([410, 200, 200, 200, 200, 200])
  }
  await restore(backup, restored)
  await using second = await startAgent({ CONNECT_INVITATION_EXPIRY: '0' }, { dataDir: restored })
  expect(await statuses(second)).toEqual([410, 200, 200, 200, 200, 200])
})

test('invitations, DID requests and challenges that have expired are closed', async () => {
  const late = await sharedAgent({
    CONNECT_INVITATION_EXPIRY: '0',
    ISSUANCE_INVITATION_EXPIRY: '0',
    PRESENTATION_INVITATION_EXPIRY: '0',
    DID_REQUEST_EXPIRY: '0',
    AUTH_CHALLENGE_EXPIRY: '0',
  })
  const tenant = await late.newTenant()
  for (const create of Object.values(kinds))
    expect(await statusOf((await create(tenant, tenant)).shortUrl)).toBe(410)
})
