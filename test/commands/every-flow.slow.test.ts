/** Every flow of the Cloud Agent by commands with `--json`, between two daemons that share only a ledger. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Webhook } from '../support/webhook.ts'
import { type Line, newUser, type User, words } from './_cli.ts'

let [acme, alice] = [] as unknown as [Side, Side]
type Side = { user: User; env: Record<string, string> }

beforeAll(async () => {
  const user = newUser()
  const VDR_URL = `sqlite:${join(user.folder, 'ledger.db')}`
  ;[acme, alice] = [
    { user, env: { VDR_URL } },
    { user: newUser(), env: { VDR_URL } },
  ]
  for (const side of [acme, alice]) await json(side)`daemon start`
})
afterAll(async () => {
  for (const { user } of [acme, alice]) {
    await user.run`daemon stop`
    user.remove()
  }
})

/** Runs a command as one of the sides. */
const run =
  ({ user, env }: Side) =>
  (...line: Line) =>
    user.as(env).run`${words(...line)} --json`

/**
 * Runs a command that must succeed. Returns its last JSON document: a waiting command prints the record
 * twice.
 */
const json =
  (side: Side) =>
  async (...line: Line): Promise<any> => {
    const { code, out, err } = await run(side)(...line)
    expect({ code, err, line }).toEqual({ code: 0, err: '', line })
    return JSON.parse(out.slice(Math.max(0, out.lastIndexOf('\n{') + 1)))
  }

/** Runs a command that must fail. Returns its error and its exit code. */
const refused =
  (side: Side) =>
  async (...line: Line): Promise<{ code: number | undefined; report: any }> => {
    const { code, out, err } = await run(side)(...line)
    expect({ line, out: code === 0 ? out : '' }).toEqual({ line, out: '' })
    return { code, report: JSON.parse(err) }
  }

/** Created on first use, so that every test can run alone. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

const issuer = once(async () => (await json(acme)`did create --publish --wait`).did as string)
const holder = once(async () => (await json(alice)`did create --auth-curve Ed25519`).did as string)
const schema = once(async () => {
  const file = join(acme.user.folder, 'employee.json')
  const properties = { name: { type: 'string' }, level: { type: 'integer' } }
  const content = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties,
    required: ['name'],
    additionalProperties: false,
  }
  writeFileSync(file, JSON.stringify(content))
  return json(acme)`schema publish --name employee --author ${await issuer()} --schema @${file} --tag hr`
})
const connection = once(async () => {
  const invited = await json(acme)`connection invite --label alice --goal ${'Your credential'}`
  const accepted = await json(alice)`connection accept ${invited.invitation.invitationUrl} --wait`
  await become(() => json(acme)`connection show ${invited.connectionId}`, {
    state: 'ConnectionResponseSent',
  })
  return {
    acmeId: invited.connectionId as string,
    aliceId: accepted.connectionId as string,
    invited,
    accepted,
  }
})

/** Polls until a record matches. The other side changes it, so that no command waits for it. */
async function become(read: () => Promise<any>, wanted: object): Promise<any> {
  let last: any
  await expect.poll(async () => (last = await read()), { interval: 200 }).toMatchObject(wanted)
  return last
}

/** Offers a credential and waits until the holder has received the offer. */
async function offer(...flags: Line) {
  const over = ['--connection', (await connection()).acmeId, '--issuing-did', await issuer()]
  const offered = await json(acme)`credential offer ${over} ${words(...flags)} --wait=OfferSent`
  const { contents } = await json(alice)`credential list --thid ${offered.thid}`
  return { offered, held: contents[0].recordId as string }
}

/** Offers, accepts and issues a credential. */
async function issue(...flags: Line) {
  const { offered, held } = await offer`${words(...flags)} --auto`
  await json(alice)`credential accept ${held} --subject ${await holder()} --key-id auth-1 --wait`
  return { issued: offered.recordId as string, held }
}

/** Requests a proof and waits until the holder has received the request. */
async function ask(...flags: Line) {
  const { acmeId } = await connection()
  const asked = await json(acme)`proof request --connection ${acmeId} ${words(...flags)} --wait=RequestSent`
  const { contents } = await json(alice)`proof list --thid ${asked.thid}`
  return { asked: asked.presentationId as string, toAnswer: contents[0].presentationId as string }
}

/** The verifier's record of a proof. The exit code also shows a failed verification. */
const proof = (id: string) => async () => JSON.parse((await run(acme)`proof show ${id}`).out)

describe('wallets and tenants', () => {
  test('the administrator creates a wallet, an entity and a key; the tenant sees only its own wallet', async () => {
    const wallet = await json(acme)`wallet create bank`
    expect(wallet).toMatchObject({ id: expect.any(String), name: 'bank', createdAt: expect.any(String) })
    const page = await json(acme)`wallet list`
    expect(page).toMatchObject({
      kind: 'WalletPage',
      contents: expect.arrayContaining([expect.objectContaining({ id: wallet.id })]),
    })
    const tenant = await json(acme)`tenant create bank --wallet ${wallet.id}`
    expect(tenant).toMatchObject({ walletId: wallet.id, apiKey: expect.any(String) })
    expect(await json(acme)`tenant show ${tenant.id}`).toMatchObject({
      kind: 'Entity',
      walletId: wallet.id,
    })

    const bank: Side = { ...acme, env: { ...acme.env, AGENT_API_KEY: tenant.apiKey } }
    expect((await json(bank)`did list`).contents).toEqual([])
    await issuer()
    expect((await json(bank)`did list`).contents).toEqual([])
    const { connectionId } = await json(bank)`connection invite`
    expect(await refused(acme)`connection show ${connectionId}`).toMatchObject({
      code: 3,
      report: { status: 404 },
    })
    const stranger: Side = { ...acme, env: { ...acme.env, AGENT_API_KEY: 'nobodys' } }
    expect(await refused(stranger)`did list`).toMatchObject({ code: 4, report: { status: 401 } })
  })
})

test('publishing a DID emits an event', async () => {
  const did = await issuer()
  expect(await json(acme)`did show ${did}`).toMatchObject({ did, status: 'PUBLISHED' })
  const { contents } = await json(acme)`event list --type DIDStatusUpdated`
  expect(contents).toEqual([
    expect.objectContaining({
      type: 'DIDStatusUpdated',
      walletId: expect.any(String),
      ts: expect.any(String),
    }),
  ])
  expect(
    (await json(alice)`did resolve ${did}`).didDocument ?? (await json(alice)`did resolve ${did}`),
  ).toMatchObject({ id: did })
})

test('a schema is published, listed and fetched by URL; claims that violate it are rejected', async () => {
  const { guid, author } = await schema()
  expect(author).toBe(await issuer())
  expect((await json(acme)`schema list`).contents.map((each: { guid: string }) => each.guid)).toContain(guid)
  expect(await json(acme)`schema show ${guid}`).toMatchObject({
    guid,
    name: 'employee',
    version: '1.0.0',
    tags: ['hr'],
  })
  const over = words`
    --connection ${(await connection()).acmeId} --issuing-did ${await issuer()} --schema ${guid}
  `
  expect(await refused(acme)`credential offer ${over} --claim name:=1`).toMatchObject({
    code: 2,
    report: { code: expect.any(String) },
  })
})

test('two agents connect', async () => {
  const { acmeId, aliceId, invited, accepted } = await connection()
  expect(invited).toMatchObject({
    state: 'InvitationGenerated',
    label: 'alice',
    invitation: { from: expect.stringMatching(/^did:peer:/) },
  })
  expect(accepted).toMatchObject({
    state: 'ConnectionResponseReceived',
    myDid: expect.any(String),
    theirDid: expect.any(String),
  })
  const shown = await json(acme)`connection show ${acmeId}`
  expect([shown.myDid, shown.theirDid]).toEqual([accepted.theirDid, accepted.myDid])
  expect(
    (await json(alice)`connection list`).contents.map((each: { connectionId: string }) => each.connectionId),
  ).toContain(aliceId)
  const { contents } = await json(acme)`event list --thid ${shown.thid}`
  expect(contents.map(({ data }: { data: { state: string } }) => data.state)).toEqual([
    'ConnectionResponseSent',
    'ConnectionResponsePending',
    'ConnectionRequestReceived',
    'InvitationGenerated',
  ])
})

test('a JWT credential is offered, accepted, issued and presented', async () => {
  const { guid } = await schema()
  const { offered, held } = await offer`--schema ${guid} --claim name=Alice --claim level:=7`
  expect(offered).toMatchObject({
    role: 'Issuer',
    protocolState: 'OfferSent',
    claims: { name: 'Alice', level: 7 },
  })
  expect(
    await json(alice)`credential accept ${held} --subject ${await holder()} --wait=RequestSent`,
  ).toMatchObject({
    role: 'Holder',
  })
  await become(() => json(acme)`credential show ${offered.recordId}`, {
    protocolState: 'RequestReceived',
  })
  expect(await json(acme)`credential issue ${offered.recordId} --wait`).toMatchObject({
    protocolState: 'CredentialSent',
  })
  await become(() => json(alice)`credential show ${held}`, { protocolState: 'CredentialReceived' })

  const asking = words`
    --schema ${guid} --trust-issuer ${await issuer()} --domain acme.example
    --challenge a-nonce-of-acme
  `
  const { asked, toAnswer } = await ask(asking)
  expect(await json(alice)`proof present ${toAnswer} --credential ${held} --wait`).toMatchObject({
    status: 'PresentationSent',
  })
  await become(proof(asked), { status: 'PresentationVerified' })
  expect(await json(acme)`proof accept ${asked}`).toMatchObject({ status: 'PresentationAccepted' })
  expect(await refused(acme)`proof reject ${asked}`).toMatchObject({ code: 5 })

  const { credential } = await json(alice)`credential export ${held}`
  const { valid } = await json(acme)`credential verify ${credential} --issuer ${await issuer()}`
  expect(valid).toBe(true)
})

test('an SD-JWT is issued and discloses only the requested claims', async () => {
  const { held } = await issue`--format sdjwt --claim name=Alice --claim birthday=2000-01-01`
  const { asked, toAnswer } = await ask`--format sdjwt --claim name --any-issuer`
  await json(alice)`proof present ${toAnswer} --credential ${held} --wait`
  const shown = await become(proof(asked), { status: 'PresentationVerified' })
  expect(JSON.stringify(shown.disclosedClaims)).toContain('Alice')
  expect(JSON.stringify(shown.disclosedClaims)).not.toContain('2000-01-01')
})

test('a policy restricts the schema of a proof', async () => {
  const { guid, author } = await schema()
  const { id } = await json(acme)`policy create --name employees --schema ${guid} --trust-issuer ${author}`
  const { held } = await issue`--claim nickname=Al`
  const { asked, toAnswer } = await ask`--policy ${id}`
  await json(alice)`proof present ${toAnswer} --credential ${held}`
  await become(proof(asked), { status: 'PresentationVerificationFailed' })
  await json(acme)`policy remove ${id} --yes`
  expect(await refused(acme)`policy show ${id}`).toMatchObject({ code: 3 })
})

test('an offer, a request and a presentation are rejected', async () => {
  const { offered, held } = await offer`--claim name=Bob`
  expect(await json(alice)`credential reject ${held} --wait`).toMatchObject({
    protocolState: 'ProblemReportSent',
  })
  await become(() => json(acme)`credential show ${offered.recordId}`, {
    protocolState: 'ProblemReportReceived',
  })

  const first = await ask`--any-issuer`
  expect(await json(alice)`proof reject ${first.toAnswer}`).toMatchObject({ status: 'RequestRejected' })
  const badge = await issue`--claim badge:=1`
  const second = await ask`--any-issuer`
  await json(alice)`proof present ${second.toAnswer} --credential ${badge.held}`
  await become(proof(second.asked), { status: 'PresentationVerified' })
  expect(await json(acme)`proof reject ${second.asked}`).toMatchObject({ status: 'PresentationRejected' })
})

test('a proof with a revoked credential fails verification', async () => {
  const { issued, held } = await issue`--claim badge:=2`
  await json(acme)`credential revoke ${issued} --yes`
  const { asked, toAnswer } = await ask`--any-issuer`
  await json(alice)`proof present ${toAnswer} --credential ${held}`
  await become(proof(asked), { status: 'PresentationVerificationFailed' })
  const { credential } = await json(alice)`credential export ${held}`
  const verified = await run(acme)`credential verify ${credential}`
  expect({ code: verified.code, valid: JSON.parse(verified.out).valid }).toEqual({ code: 8, valid: false })
})

test('offers and requests work by invitation, without a connection', async () => {
  const offering = words`
    credential offer --invitation --issuing-did ${await issuer()} --claim ticket:=7 --auto
  `
  const offered = await json(acme)(offering)
  expect(offered).toMatchObject({ protocolState: 'InvitationGenerated' })
  const { recordId } = await json(alice)`credential accept-invitation ${offered.invitation.invitationUrl}`
  await json(alice)`credential accept ${recordId} --subject ${await holder()} --wait`
  const asked = await json(acme)`proof request --invitation --any-issuer`
  const { presentationId } = await json(alice)`proof accept-invitation ${asked.invitation.invitationUrl}`
  await json(alice)`proof present ${presentationId} --credential ${recordId} --wait`
  await become(proof(asked.presentationId), { status: 'PresentationVerified' })
})

test('a message is sent over a connection', async () => {
  const { acmeId, aliceId } = await connection()
  const { messageId } = await json(acme)`message send ${'See you at ten'} --connection ${acmeId}`
  expect(messageId).toEqual(expect.any(String))
  const read = () => json(alice)`message list --connection ${aliceId}`
  await become(read, { contents: [{ direction: 'received', content: 'See you at ten' }] })
})

test('a webhook receives every change with its headers, and redeliveries', async () => {
  await using webhook = await Webhook.open()
  const { id } = await json(alice)`webhook add ${webhook.url} --headers {"x-who":"alice"}`
  try {
    expect(await json(alice)`webhook test ${id}`).toMatchObject({ status: 200 })
    const { id: eventId } = await json(alice)`event trigger ConnectionUpdated`
    await expect.poll(() => webhook.events.map((event) => event.id)).toContain(eventId)
    const delivered = webhook.deliveries.find(({ event }) => event.id === eventId)!
    expect(delivered).toMatchObject({
      event: { type: 'ConnectionUpdated', walletId: expect.any(String) },
      headers: { 'x-who': 'alice' },
    })
    expect(await json(alice)`event show ${eventId}`).toEqual(delivered.event)

    expect(await json(alice)`webhook replay ${id} --event ${eventId}`).toMatchObject({ count: 1 })
    await expect.poll(() => webhook.deliveries.filter(({ event }) => event.id === eventId).length).toBe(2)
    const { contents } = await json(alice)`webhook deliveries ${id} --event ${eventId}`
    expect(contents.map(({ kind, outcome }: { kind: string; outcome: string }) => [kind, outcome])).toEqual([
      ['replay', 'delivered'],
      ['automatic', 'delivered'],
    ])
  } finally {
    await json(alice)`webhook remove ${id} --yes`
  }
})

describe('onboard', () => {
  test('a DID request is answered once', async () => {
    const { id, state, didRequest, did } = await json(acme)`onboard create --from Acme`
    expect({ state, did, from: didRequest.from }).toEqual({ state: 'pending', did: null, from: 'Acme' })
    const submitted = await json(alice)`onboard submit ${JSON.stringify(didRequest)} --new`
    expect(await json(acme)`onboard show ${id} --wait`).toMatchObject({
      kind: 'DidRequestState',
      state: 'success',
      did: submitted.did,
    })
    expect(await refused(alice)`onboard submit ${JSON.stringify(didRequest)} --new`).toMatchObject({
      code: 5,
    })
    expect(await json(acme)`onboard list`).toMatchObject({
      kind: 'Collection',
      contents: expect.arrayContaining([expect.objectContaining({ id })]),
    })
    await json(acme)`onboard remove ${id} --yes`
    expect(await refused(acme)`onboard show ${id}`).toMatchObject({ code: 3, report: { status: 404 } })
  })

  test('a DID request is rejected', async () => {
    const { id, didRequest } = await json(acme)`onboard create`
    await json(alice)`onboard reject ${JSON.stringify(didRequest)}`
    expect(await json(acme)`onboard show ${id}`).toMatchObject({ state: 'error', did: null })
  })
})

describe('authenticate', () => {
  const known = once(async () => {
    const { didRequest } = await json(acme)`onboard create`
    return (await json(alice)`onboard submit ${JSON.stringify(didRequest)} --new`).did as string
  })

  test('a sign-in with a DID issues one token', async () => {
    const did = await known()
    const { id, challenge, state } = await json(acme)`signin create --from Acme`
    expect({ state, challenge }).toMatchObject({
      state: 'pending',
      challenge: { nonce: expect.any(String), expireAt: expect.any(String) },
    })
    await json(alice)`signin respond ${JSON.stringify(challenge)} --did ${did}`
    expect(await json(acme)`signin show ${id} --wait`).toMatchObject({
      kind: 'AuthenticationChallengeState',
      state: 'success',
      did,
    })
    expect(await json(acme)`signin token ${id}`).toMatchObject({
      subject: did,
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    })
    expect(await refused(alice)`signin respond ${JSON.stringify(challenge)} --did ${did}`).toMatchObject({
      code: 5,
    })
    expect((await json(acme)`signin list`).contents.map((each: { id: string }) => each.id)).toContain(id)
    await json(acme)`signin remove ${id} --yes`
    expect(await refused(acme)`signin show ${id}`).toMatchObject({ code: 3 })
  })

  test('a challenge under a false sender name is not signed', async () => {
    const { id, challenge } = await json(acme)`signin create --from Acme`
    const forged = JSON.stringify({ ...challenge, from: 'Bank' })
    expect(await refused(alice)`signin respond ${forged} --did ${await known()}`).toMatchObject({ code: 8 })
    expect(await json(acme)`signin show ${id}`).toMatchObject({ state: 'pending' })
  })
})
