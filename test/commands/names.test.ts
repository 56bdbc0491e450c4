/** Names of DIDs, and of the other side of credentials and proofs, in lists, in `show` and at prompts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askForMissing } from '../../cli/prompts/missing.ts'
import { whichDid, whichRecord } from '../../cli/prompts/questions.ts'
import { personQuery } from '../exchange/oid4vp/_wallet.ts'
import { untilEnd } from '../support/shared.ts'
import { connect, credentialIn, presentationIn } from '../support/tenants.ts'
import { serveUser, startCommandedPair } from './_agents.ts'
import { fails, hasScript, newUser, words } from './_cli.ts'
import { keys, newTerminal } from './_terminal.ts'

const pair = await untilEnd(startCommandedPair())
const { issuer, holder } = pair
const [mine, theirs] = [pair.as(issuer), pair.as(holder)]
const connected = await connect(issuer, holder)
await issuer.call('PATCH /connections/{connectionId}', {
  path: { connectionId: connected.inviterConnectionId },
  body: { label: 'Alice' },
})
await holder.call('PATCH /connections/{connectionId}', {
  path: { connectionId: connected.inviteeConnectionId },
  body: { label: 'Acme' },
})

test('a DID has a label, which lists show and commands take in its place', async () => {
  const made = await mine.json(['did', 'create', '--label', 'Acme signing', '--publish', '--wait'])
  const { did } = made
  expect(await mine.json`did show ${did}`).toEqual({ did, status: 'PUBLISHED', label: 'Acme signing' })
  expect((await mine.run(['did', 'show', 'acme SIGNING'])).out).toMatch(/^label +Acme signing$/m)
  expect((await mine.run`did list`).out).toMatch(/^LABEL +DID +STATE\nAcme signing +did:prism:/)
  const offer = words`credential offer --connection Alice --claim name=Eve`
  const { issuingDID } = await mine.json([...offer, '--issuing-did', 'Acme signing'])
  expect(issuingDID).toBe(did)

  expect(await mine.json(['did', 'label', did, 'Acme'])).toMatchObject({ did, label: 'Acme' })
  expect((await mine.run(['did', 'show', 'Acme signing'])).code).toBe(3)
  const cleared = await mine.json(['did', 'label', 'Acme', ''])
  expect(cleared).toEqual({ did, status: 'PUBLISHED' })
  expect((await mine.run`did list`).out).toMatch(/^DID +STATE/)
})

test('DIDs of every method have a label; one that is too long is refused', async () => {
  for (const method of ['web', 'key', 'jwk']) {
    const { did } = await mine.json`did create --method ${method} --label of-${method}`
    expect(await mine.json`did show of-${method}`).toMatchObject({ did, label: `of-${method}` })
  }
  expect(await mine.run`did create --label ${'x'.repeat(256)}`).toMatchObject(fails(2, /label/))
})

test('a prompt lists DIDs with their labels, the newest first', async () => {
  await mine.json`did create --label older`
  const { did } = await mine.json`did create --label newer`
  const terminal = newTerminal()
  const asked = askForMissing({ did: whichDid('Which DID?') }, [], {
    call: issuer.call,
    given: {},
    terminal,
  })
  await terminal.shows('Which DID?')
  expect(terminal.text()).toMatch(/newer +did:prism:\w{5}…[\s\S]*older +did:prism:\w{5}…/)
  terminal.types(keys.enter)
  expect(await asked).toEqual([did])
})

test('a credential names the other side, in lists, in show and at the prompt', async () => {
  const offer = words`credential offer --connection Alice --issuing-did of-jwk --claim name=Bob`
  const { thid, connectionId } = await mine.json(offer)
  expect(connectionId).toBe(connected.inviterConnectionId)
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  expect((await theirs.run`credential show ${recordId}`).out).toMatch(/^offered by +Acme$/m)
  expect((await theirs.run`credential list`).out).toMatch(new RegExp(`${recordId} .*name=Bob +Acme +now|ago`))
  const terminal = newTerminal()
  const asked = askForMissing({ id: whichRecord('credential', 'credential accept') }, [], {
    call: holder.call,
    given: {},
    terminal,
  })
  await terminal.shows('Which credential?')
  expect(terminal.text()).toMatch(/❯ name=Bob from Acme, (?:now|\d+ s ago)/)
  terminal.types(keys.enter)
  expect(await asked).toEqual([recordId])
})

test('a proof says who asks, what for, and when', async () => {
  const { connectionId } = { connectionId: connected.inviterConnectionId }
  const { thid } = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [], goal: 'Are you over 18?', options: { challenge: 'c', domain: 'd' } },
  })
  const first = await presentationIn(holder.call, thid, 'RequestReceived')
  expect(first).toMatchObject({
    connectionId: connected.inviteeConnectionId,
    goal: 'Are you over 18?',
    createdAt: expect.stringMatching(/^\d{4}-/),
  })
  expect((await theirs.run`proof show ${first.presentationId}`).out).toMatch(
    /^asked by +Acme$[\s\S]*^goal +Are you over 18\?$[\s\S]*^created /m,
  )
  expect((await mine.run`proof list`).out).toMatch(/RequestSent +Alice +any JWT credential/)

  const query = join(pair.user.folder, 'query.json')
  writeFileSync(query, JSON.stringify(personQuery))
  const { openid4vp } = await mine.json`proof request --oid4vp --any-issuer --dcql ${query}`
  const received = await holder.call('POST /present-proof/presentations/openid4vp/requests', {
    body: { authorizationRequest: openid4vp.authorizationRequest },
  })
  const terminal = newTerminal()
  const asked = askForMissing({ id: whichRecord('proof', 'proof present') }, [], {
    call: holder.call,
    given: {},
    terminal,
  })
  await terminal.shows('Which proof?')
  const { host } = new URL(pair.agent.url)
  expect(terminal.text()).toContain(`person: name for ${host}, `)
  expect(terminal.text()).toMatch(/person: name[\s\S]*Are you over 18\?: any JWT credential for Acme, /)
  terminal.types(keys.enter)
  expect(await asked).toEqual([received.presentationId])
  expect((await theirs.run`proof list`).out).toContain(host)
})

test('an invitation is the other side of what it carries', async () => {
  const { invitation } = await mine.json`proof request --invitation --any-issuer`
  const { presentationId } = await theirs.json`proof accept-invitation ${invitation.invitationUrl}`
  const { host } = new URL(pair.agent.didcommUrl)
  expect((await theirs.run`proof show ${presentationId}`).out).toMatch(new RegExp(`^asked by +${host}$`, 'm'))
  expect((await mine.run`proof list`).out).toContain('an invitation')
})

const user = newUser()
beforeAll(async () => {
  await untilEnd(serveUser(user))
})
afterAll(() => user.remove())

test('a tenant whose name exists is noted, and created', async () => {
  const { id } = await user.json`tenant create bob`
  const { code, err } = await user.run`tenant create Bob --json`
  expect([code, err]).toEqual([
    0,
    expect.stringContaining(`Note: A tenant has the name "Bob" already: ${id}.`),
  ])
  expect((await user.run`tenant create bob --yes`).err).not.toContain('Note')
})

test.runIf(hasScript())('at a terminal, a person is asked about a tenant whose name exists', async () => {
  await user.json`tenant create eve`
  const size = { columns: 80, rows: 24 }
  const { out } = await user.runInTerminal(['tenant', 'create', 'eve'], size, { TERM: 'xterm' }, 'n\n')
  expect(out).toMatch(/Create another\? \[y\/N\][\s\S]*Cancelled/)
  const { contents } = await user.json`tenant list`
  expect(contents.filter(({ name }: { name: string }) => name === 'eve')).toHaveLength(1)
})
