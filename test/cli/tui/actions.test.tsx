/** Actions of the dashboard beside the flows: messages, pings, labels, traces, webhooks, deletions. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { connect, issue, newDid, presentationIn } from '../../support/tenants.ts'
import { openReceiver } from '../../support/receiver.ts'
import { codes, pasted } from './_dashboard.ts'
import { showNewTenant, showTenant } from './_live.ts'

let agent: TestAgent

beforeAll(async () => void (agent = await startAgent()))
afterAll(() => agent[Symbol.asyncDispose]())

/** Two connected tenants with their dashboards. */
async function two() {
  const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
  const { inviterConnectionId: connectionId } = await connect(alice, bob)
  const [left, right] = [await showTenant(agent.url, alice), await showTenant(agent.url, bob)]
  const close = async () => [left, right].forEach((each) => each.close())
  return { alice, bob, connectionId, left, right, [Symbol.asyncDispose]: close }
}

test('messages go both ways while the page of a connection is open, and a line of several words is pasted', async () => {
  await using both = await two()
  const { left, right } = both
  await left.after('m').shows('There are no messages yet.')
  expect(left.frame()).toContain('─ Messages with invitee ─')
  await right.after('m').shows('There are no messages yet.')
  await left.type('Good morXX', codes.backspace, codes.backspace, ...pasted('ning,\nBob'), codes.enter)
  await right.shows(/\n│ {3}Good morning, Bob +│\n/)
  await right.type('q is a letter here', codes.enter)
  await left.shows(
    /│ You {2}[-\d]+ [:\d]+ UTC +│\n│ {3}Good morning, Bob +│\n│ invitee {2}[-\d]+ [:\d]+ UTC +│\n│ {3}q is a letter here +│\n/,
  )
  await left.type(codes.enter, ' ', codes.enter)
  expect((await both.bob.call('GET /messages')).contents).toHaveLength(2)
  await left.after(codes.escape).shows('[1 Connections 1]')
})

test('a message that is too long stays in the input, with the reason', async () => {
  await using both = await two()
  const { left } = both
  await left.after('m').shows('There are no messages yet.')
  await left.after(...pasted(`long ${'x'.repeat(100_000)}`), codes.enter).shows('✗ ')
  expect(left.frame()).toMatch(/› …x+▏/)
})

test('many messages are scrolled, and a new one is shown at the end only', async () => {
  await using both = await two()
  const { alice, bob, connectionId, left } = both
  for (let count = 0; count < 12; count++)
    await alice.call('POST /messages', { body: { connectionId, content: `number ${count}.` } })
  await left.after('m').shows('number 11.')
  expect(left.frame()).not.toContain('number 0.')
  await left.after(codes.pageUp, codes.pageUp).shows('number 0.')
  const [back] = (await bob.call('GET /connections')).contents
  await bob.call('POST /messages', { body: { connectionId: back!.connectionId, content: 'the newest.' } })
  await left.shows('6 below')
  await left.after(codes.end).shows('the newest.')
})

test('a connection is labelled, named by its label in questions, and named by host and id without one', async () => {
  await using both = await two()
  const { alice, connectionId, left } = both
  await left.after('L').shows('Label the connection')
  await left.after('\u0015Bob’s wallet', codes.enter).shows('✓ The label is “Bob’s wallet”.')
  expect(left.frame()).toMatch(/› Bob’s wallet .*Inviter/)
  expect((await alice.call('GET /connections/{connectionId}', { path: { connectionId } })).label).toBe(
    'Bob’s wallet',
  )
  await left.after('n', '4').shows('› 1 Bob’s wallet')
  await left.after(codes.escape, 'L', '\u0015', codes.enter).shows('✓ The label is removed.')
  expect(left.frame()).toMatch(new RegExp(`› 127\\.0\\.0\\.1:\\d+ ${connectionId.slice(-8)} `))
})

test('a DID is labelled in its pane', async () => {
  await using both = await two()
  const { did } = await newDid(both.alice, 'authentication')
  await both.left.after('4').shows(did.slice(0, 40))
  await both.left.after('L').shows('Label the DID')
  await both.left.after('Acme signing', codes.enter).shows('✓ The label is “Acme signing”.')
  await both.left.shows('› Acme signing  did:prism:')
  const shown = await both.alice.call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } })
  expect(shown.label).toBe('Acme signing')
})

test('the other side of a connection is pinged', async () => {
  await using both = await two()
  await both.left.type('p')
  await both.left.shows(/✓ invitee answered after \d+ ms\./)
})

test('the trace of a connection is shown, its id copied, and the page closed', async () => {
  await using both = await two()
  const { left } = both
  await left.after('T').shows(/─ Trace ─+┐\n│ Thread [-\w]+ *│\n│ connection [-\w]+, Inviter:/)
  await left.shows(/→ sent connections response +taken/)
  expect(left.frame()).not.toContain('…')
  await left.type('y')
  expect(left.copied).toEqual([expect.stringMatching(/^[-\w]{36}$/)])
  await left.after('q').shows('[1 Connections 1]')
  expect(left.quits()).toBe(0)
})

test('a credential, a proof and an event have the actions of their connection, and an event those of its record', async () => {
  await using both = await two()
  const { alice, bob, connectionId, left, right } = both
  const [{ did: issuingDID }, { did }] = [
    await newDid(alice, 'assertionMethod'),
    await newDid(bob, 'authentication'),
  ]
  // Another connection of the same tenants, which is not the one of the credential.
  await connect(alice, bob)
  await issue(alice, bob, connectionId, issuingDID, did)
  const label = `Bob ${connectionId.slice(-8)}`
  await left.after('2').shows('CredentialSent (')
  await left.after('L').shows('Label the connection')
  await left.after('\u0015', label, codes.enter).shows(`✓ The label is “${label}”.`)
  expect((await alice.call('GET /connections/{connectionId}', { path: { connectionId } })).label).toBe(label)
  await left.after('P').shows(`✓ ${label} answered after`)
  await left.after('m').shows(`Messages with ${label}`)
  await left.type('Your diploma', codes.enter)
  await left.shows(/\n│ {3}Your diploma +│\n/)

  const { thid } = await alice.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  await presentationIn(bob.call, thid, 'RequestReceived')
  await right.after('3').shows('RequestReceived (')
  await right.after('m').shows(/\n│ {3}Your diploma +│\n/)
  await right.after(codes.escape, '6').shows('PresentationUpdated')
  await right.after('m').shows(/\n│ {3}Your diploma +│\n/)
  await right.after(codes.escape, 'd').shows('Delete this proof record and its presentations?')
  await right.after('y').shows('✓ The proof record is deleted.')
  expect((await bob.call('GET /present-proof/presentations')).contents).toEqual([])
})

test('a record without a connection has no keys of one', async () => {
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  await tenant.call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
  await dashboard.after('3').shows('InvitationGenerated (')
  expect(dashboard.frame()).not.toMatch(/m messages|P ping|L label/)
  await dashboard.after('m').shows('✗ There is no “messages” now')

  // Only the messages of a record tell that it was exchanged by an invitation.
  await using both = await two()
  const { alice, left } = both
  await left.shows('[1 Connections 1]')
  await alice.call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
  await left.after('3').shows('InvitationGenerated (')
  await left.shows(/^(?![^]*m messages)/)
})

test('a DID shows its keys and services, and is deactivated after confirmation', async () => {
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  const service = { id: 'site', type: 'LinkedDomains', serviceEndpoint: 'https://acme.example/' }
  const { longFormDid } = await tenant.call('POST /did-registrar/dids', {
    body: {
      documentTemplate: {
        publicKeys: [{ id: 'auth-1', purpose: 'authentication', curve: 'secp256k1' }],
        services: [service],
      },
    },
  })
  await dashboard.after('4').shows(/key auth-1 +authentication, secp256k1/)
  await dashboard.shows(/service site +LinkedDomains https:\/\/acme\.example/)
  expect(dashboard.frame()).not.toContain('D deactivate')
  const path = { didRef: longFormDid.split(':', 3).join(':') }
  await tenant.call('POST /did-registrar/dids/{didRef}/publications', { path })
  await dashboard.shows('D deactivate')
  await dashboard.after('D').shows('Deactivate this DID for good? This cannot be undone.')
  await dashboard.after('n').shows('D deactivate')
  await dashboard.after('D', 'y').shows(/✓ The (?:DID is deactivated|deactivation is on its way)/)
  expect(dashboard.frame()).not.toContain('D deactivate')
})

test('a connection is deleted after confirmation, unless a flow over it waits', async () => {
  await using both = await two()
  const { alice, connectionId, left } = both
  const { presentationId } = await alice.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  await left.after('d').shows('Delete this connection? This cannot be undone.')
  await left.after('y').shows(`record ${presentationId}`)
  await alice.call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } })
  await left.after(codes.escape, 'd').shows('Delete this connection?')
  await left.after('y').shows('✓ The connection is deleted.')
  expect((await alice.call('GET /connections')).contents).toEqual([])
})

test('credentials and proofs are deleted after confirmation', async () => {
  await using both = await two()
  const { alice, bob, connectionId, left, right } = both
  const [{ did: issuingDID }, { did }] = [
    await newDid(alice, 'assertionMethod'),
    await newDid(bob, 'authentication'),
  ]
  await issue(alice, bob, connectionId, issuingDID, did)
  await left.after('2').shows('CredentialSent (')
  await left.after('d').shows('Delete this credential record? This cannot be undone.')
  expect(left.frame()).toContain('The credential stays valid, and can never be revoked afterwards.')
  await left.after('n').shows('[2 Credentials 1]')
  await right.after('2').shows('CredentialReceived (')
  await right.after('d').shows('The credential is deleted with it.')
  await right.after('y').shows('✓ The credential record is deleted.')
  expect(right.frame()).toContain('[2 Credentials 0]')
  expect((await bob.call('GET /issue-credentials/records')).contents).toEqual([])

  const { thid } = await alice.call('POST /present-proof/presentations', {
    body: { connectionId, proofs: [] },
  })
  await presentationIn(bob.call, thid, 'RequestReceived')
  await right.after('3').shows('RequestReceived (')
  expect(right.frame()).toMatch(/asked for +any JWT credential/)
  await right.after('d', 'y').shows('✓ The proof record is deleted.')
  expect((await bob.call('GET /present-proof/presentations')).contents).toEqual([])
})

test('a webhook is added with headers and a secret that is shown once, and deleted after confirmation', async () => {
  await using receiver = await openReceiver((response) => response.end())
  await using alone = await showNewTenant(agent)
  const { tenant, dashboard } = alone
  await dashboard.after('n', '6').shows('Add a webhook')
  await dashboard.after('nonsense', codes.enter).shows('✗ URL: give an address')
  await dashboard
    .after('\u0015', ...pasted(receiver.url), codes.tab, ' ', codes.tab, 'x-key', codes.enter)
    .shows('✗ header: “x-key” has no colon')
  await dashboard
    .after(': one', codes.tab, 'x-other: two: 2', codes.enter)
    .shows('Its signing secret, which is not shown again:')
  await dashboard.type('y', codes.escape)
  expect(dashboard.copied).toEqual([expect.stringMatching(/^whsec_/)])
  await dashboard.shows('[5 Webhooks 1]')
  const { contents } = await tenant.call('GET /events/webhooks')
  expect(contents).toMatchObject([{ url: receiver.url, signed: true }])
  expect(Object.keys(contents[0]!.customHeaders)).toEqual(['x-key', 'x-other'])
  await dashboard.after('t').shows('The receiver accepted the test event with status 200')

  await dashboard.after('e').shows('Sign the events of this webhook?')
  await dashboard.after(codes.enter).shows('The webhook has a new secret')
  await dashboard.type('y', codes.escape)
  expect(new Set(dashboard.copied).size).toBe(2)
  await dashboard.after('e', '2').shows('✓ The events are no longer signed.')
  expect((await tenant.call('GET /events/webhooks')).contents[0]!.signed).toBeUndefined()

  await dashboard.after('d').shows('Delete this webhook? This cannot be undone.')
  await dashboard.type('n')
  expect((await tenant.call('GET /events/webhooks')).contents).toHaveLength(1)
  await dashboard.after('d', 'y').shows('✓ The webhook is deleted.')
  expect(dashboard.frame()).toContain('[5 Webhooks 0]')
  expect((await tenant.call('GET /events/webhooks')).contents).toEqual([])
})
