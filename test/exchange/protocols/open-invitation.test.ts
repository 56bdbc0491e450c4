/** Accepting invitations that carry a message, over HTTP: encodings, purposes, expiry and repetition. */
import { describe, expect, test } from 'vitest'
import {
  decode,
  encode,
  offerByInvitation,
  acceptOfferInvitation,
  acceptRequestInvitation,
} from '../../support/invitation.ts'
import { oobOf, refusal, startPair, type Tenant } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const offers = 'POST /issue-credentials/credential-offers/accept-invitation'
const requests = 'POST /present-proof/presentations/accept-invitation'

const pair = await untilEnd(startPair())
const issuingDID = (await offerByInvitation(pair.issuer)).issuingDID!

const newOffer = () =>
  pair.issuer.call('POST /issue-credentials/credential-offers/invitation', {
    body: { issuingDID, claims: { name: 'Ärger' } },
  })
const newRequest = () => pair.issuer.call('POST /present-proof/presentations/invitation', { body: {} })
const connect = ({ call }: Tenant, invitation: string) =>
  call('POST /connection-invitations', { body: { invitation } })
const how = {
  connect: { take: connect, errors: 'error:ConnectionServiceError' },
  offer: { take: acceptOfferInvitation, errors: 'error:CredentialServiceError' },
  request: { take: acceptRequestInvitation, errors: 'error:PresentationError' },
}

test('an invitation is read as a URL, as its text, and as base64 in either alphabet, padded or not', async () => {
  const forms: ((made: { invitation?: { invitationUrl: string } | undefined }) => string)[] = [
    ({ invitation }) => invitation!.invitationUrl,
    (made) => oobOf(made),
    (made) => oobOf(made).replace(/=+$/, ''),
    (made) => Buffer.from(JSON.stringify({ ...decode(made), note: 'ÿÿÿ>>>???' })).toString('base64'),
    (made) => encode({ ...decode(made), note: 'ÿÿÿ>>>???' }),
    (made) =>
      `https://wallet.example/accept?a=b&_oob=${encodeURIComponent(Buffer.from(JSON.stringify(decode(made))).toString('base64'))}#x`,
    (made) => `didcomm://invite?_oob=${oobOf(made)}`,
  ]
  for (const form of forms) {
    const offer = await newOffer()
    expect(await acceptOfferInvitation(pair.holder, form(offer))).toMatchObject({
      thid: offer.thid,
      protocolState: 'OfferReceived',
    })
    const asked = await newRequest()
    expect(await acceptRequestInvitation(pair.holder, form(asked))).toMatchObject({
      thid: asked.thid,
      status: 'RequestReceived',
    })
  }
})

test('the attached message may be base64, and its `to` may be a string', async () => {
  const offer = await newOffer()
  const invitation = decode(offer)
  const message = { ...invitation.attachments[0].data.json, to: 'did:peer:2.somebody', created_time: null }
  invitation.attachments = [
    { id: 'x', data: { base64: Buffer.from(JSON.stringify(message)).toString('base64'), jws: null } },
  ]
  expect(await acceptOfferInvitation(pair.holder, encode(invitation))).toMatchObject({
    thid: offer.thid,
    claims: { name: 'Ärger' },
  })
})

test('a wallet accepts an invitation once, even concurrently', async () => {
  for (const [kind, made] of [
    ['offer', await newOffer()],
    ['request', await newRequest()],
  ] as const) {
    const { take, errors } = how[kind]
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => take(pair.holder, oobOf(made))))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const problem = await refusal(take(pair.holder, oobOf(made)))
    expect(problem).toMatchObject({ status: 400, type: `${errors}:InvitationAlreadyReceived` })
  }
})

test('its creator may accept it; no connection and no DID of a refused acceptance is stored', async () => {
  const tenant = await pair.agent.newTenant()
  const asked = await tenant.call('POST /present-proof/presentations/invitation', { body: {} })
  expect((await acceptRequestInvitation(tenant, oobOf(asked))).role).toBe('Prover')
  await refusal(acceptRequestInvitation(tenant, oobOf(asked)))
  const kept = await pair.agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('peer_did').select('record_id').execute(),
  )
  const records = (await tenant.call('GET /present-proof/presentations')).contents.map(
    ({ presentationId }) => presentationId,
  )
  expect(kept.map(({ record_id }) => record_id).toSorted()).toEqual(records.toSorted())
})

describe('an invitation with another goal', () => {
  test.each([
    ['connect', 'offer', 'POST /connection-invitations'],
    ['connect', 'request', 'POST /connection-invitations'],
    ['offer', 'request', offers],
    ['offer', 'connect', offers],
    ['request', 'offer', requests],
    ['request', 'connect', requests],
  ] as const)(
    'to %s is refused where one accepts one to %s, and the right endpoint is named',
    async (kind, where, endpoint) => {
      const made = await {
        connect: () => pair.issuer.call('POST /connections', { body: {} }),
        offer: newOffer,
        request: newRequest,
      }[kind]()
      const problem = await refusal(how[where].take(pair.holder, oobOf(made)))
      expect(problem).toMatchObject({
        status: 400,
        type: `${how[where].errors}:InvitationParsingError`,
        detail: expect.stringContaining(endpoint),
      })
      expect((await pair.holder.call('GET /connections', { query: { thid: made.thid } })).contents).toEqual(
        [],
      )
      expect((await how[kind].take(pair.holder, oobOf(made))).thid).toBe(made.thid)
    },
  )

  test('that this agent does not know is refused, and can still be used to connect', async () => {
    const made = await pair.issuer.call('POST /connections', { body: {} })
    const json = { id: 'x', type: 'https://example.com/unknown/1.0/hello', body: {}, attachments: [] }
    const text = encode({ ...decode(made), attachments: [{ id: 'y', data: { json } }] })
    for (const take of [acceptOfferInvitation, acceptRequestInvitation]) {
      expect((await refusal(take(pair.holder, text))).detail).toContain(
        'https://example.com/unknown/1.0/hello',
      )
    }
    expect((await connect(pair.holder, text)).thid).toBe(made.thid)
  })
})

describe('an invalid invitation that', () => {
  type Change = (invitation: any) => unknown
  const inner = (change: (message: any) => object): Change => {
    return (invitation) => ({
      ...invitation,
      attachments: [{ id: 'x', data: { json: change(invitation.attachments[0].data.json) } }],
    })
  }
  const cases: [string, Change, string, RegExp][] = [
    ['has expired', (it) => ({ ...it, expires_time: 1_000 }), 'InvitationExpired', /1970-01-01T00:16:40/],
    [
      'has empty attachments',
      inner((it) => ({ ...it, attachments: undefined })),
      'InvitationParsingError',
      /attachments/,
    ],
    [
      'carries a message of another sender',
      inner((it) => ({ ...it, from: 'did:peer:2.x' })),
      'InvitationParsingError',
      /another sender/,
    ],
    ['carries no type', inner((it) => ({ ...it, type: undefined })), 'InvitationParsingError', /type/],
    [
      'carries no JSON',
      (it) => ({ ...it, attachments: [{ data: { base64: 'AAAA' } }] }),
      'InvitationParsingError',
      /JSON/,
    ],
    ['has no sender', (it) => ({ ...it, from: undefined }), 'InvitationParsingError', /from/],
    [
      'is of another type',
      (it) => ({ ...it, type: 'https://didcomm.org/connections/1.0/invitation' }),
      'InvitationParsingError',
      /type/,
    ],
  ]
  test.each(cases)('%s is refused, and no row is created', async (_, change, type, detail) => {
    for (const [kind, made] of [
      ['offer', await newOffer()],
      ['request', await newRequest()],
    ] as const) {
      const problem = await refusal(how[kind].take(pair.holder, encode(change(decode(made)))))
      expect(problem).toMatchObject({
        status: 400,
        type: `${how[kind].errors}:${type}`,
        detail: expect.stringMatching(detail),
      })
      expect((await how[kind].take(pair.holder, oobOf(made))).thid).toBe(made.thid)
    }
  })

  test('has an incomplete offer or request is refused with the missing field', async () => {
    const [offer, asked] = [decode(await newOffer()), decode(await newRequest())]
    const without = inner((it) => ({ ...it, attachments: [] }))
    expect(await refusal(acceptOfferInvitation(pair.holder, encode(without(offer))))).toMatchObject({
      status: 400,
      type: 'error:CredentialServiceError:InvalidCredentialOffer',
    })
    expect(await refusal(acceptRequestInvitation(pair.holder, encode(without(asked))))).toMatchObject({
      status: 400,
      type: 'error:PresentationError:InvalidPresentationRequest',
    })
  })

  test.each([
    ['is empty', ''],
    ['is a word', 'hello'],
    ['is a URL of something else', 'https://example.com/'],
    ['is too long', `https://example.com/?_oob=${'A'.repeat(300_000)}`],
  ])('%s is refused', async (_, text) => {
    for (const take of [acceptOfferInvitation, acceptRequestInvitation]) {
      const { status, detail } = await refusal(take(pair.holder, text))
      expect([status, detail.length > 10]).toEqual([400, true])
    }
  })
})

test('an incomplete offer in an invitation is refused with the missing field', async () => {
  const invite = (body: object) =>
    pair.issuer.call('POST /issue-credentials/credential-offers/invitation', { body })
  const good = { issuingDID, claims: { a: 1 } }
  for (const [body, detail] of [
    [{ ...good, claims: undefined }, /claims/],
    [{ ...good, issuingDID: undefined }, /issuingDID/],
    [{ ...good, issuingDID: `did:prism:${'ab'.repeat(32)}` }, /not in this wallet/],
    [{ ...good, goal: 'x'.repeat(256) }, /goal/],
  ] as const) {
    expect(await refusal(invite(body))).toMatchObject({ status: 400, detail: expect.stringMatching(detail) })
  }
  // Clients of the Cloud Agent send a connection id here.
  expect((await invite({ ...good, connectionId: null, credentialFormat: 'JWT' })).protocolState).toBe(
    'InvitationGenerated',
  )
})
