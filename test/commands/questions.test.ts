/** Prompts at a terminal about records of a real agent. */
import { expect, test } from 'vitest'
import { askForMissing, type Questions } from '../../cli/prompts/missing.ts'
import {
  toWhomOrWallet,
  whichConnection,
  whichCredential,
  whichDid,
  whichRecord,
} from '../../cli/prompts/questions.ts'
import { whichClaims } from '../../cli/prompts/claims.ts'
import type { Client } from '../../daemon/client/client.ts'
import { whichConfiguration } from '../../cli/oid4vci-offer.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  publishSchema,
  startPair,
  type Tenant,
} from '../support/tenants.ts'
import { keys, newTerminal, type TestTerminal } from './_terminal.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startPair())
const unconnected = await pair.agent.newTenant('unconnected')
const issuingDid = (await newDid(pair.issuer, 'assertionMethod')).did
const subject = (await newDid(pair.holder, 'authentication')).longFormDid
const connected = await connect(pair.issuer, pair.holder)
await pair.issuer.call('POST /connections', { body: { label: 'not connected' } })

/** Runs prompts at a terminal. Waits for each text, then types its answer. */
async function asked(
  call: Client,
  questions: Questions,
  steps: [shown: string, ...typed: string[]][],
  given: Record<string, unknown> = {},
) {
  const terminal: TestTerminal = newTerminal()
  const complete = askForMissing(questions, [], { call, given, terminal })
  for (const [shown, ...typed] of steps) {
    await terminal.shows(shown)
    terminal.types(...typed)
  }
  return { complete: await complete, text: terminal.text() }
}

test('an offer is composed of existing connections, DIDs and single claims', async () => {
  const questions = {
    connection: toWhomOrWallet('--oid4vci='),
    'issuing-did': whichDid('Which DID issues it?', 'issuing-did'),
    claim: whichClaims,
  }
  const { complete, text } = await asked(pair.issuer.call, questions, [
    ['Over which connection?', keys.enter],
    ['Which DID issues it?', keys.enter],
    ['A claim', 'name=Alice', keys.enter],
    ['\n? Another claim', 'age:=old', keys.enter],
    ['is not JSON', ...Array<string>(3).fill('\u007f'), '42', keys.enter],
    ['\n? Another claim', keys.enter],
  ])
  expect(complete).toEqual([
    `--connection=${connected.inviterConnectionId}`,
    `--issuing-did=${issuingDid}`,
    '--claim=name=Alice',
    '--claim=age:=42',
  ])
  expect(text).not.toContain('not connected')
})

const badge = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Full name', description: 'As in the passport' },
    age: { type: 'integer' },
    size: { type: 'string', enum: ['S', 'M'] },
  },
  required: ['name', 'age'],
}

/** A configuration of a new issuer, with the schema of a badge. */
async function configure({ call, url }: Tenant, author: string) {
  const schemaId = await publishSchema({ call, url }, author, { name: 'badge', ...badge })
  const { id: issuerId } = await call('POST /oid4vci/issuers', { body: {} })
  const body = {
    configurationId: 'Badge',
    format: 'dc+sd-jwt' as const,
    schemaId: `${schemaId}/schema`,
    display: { name: 'Badge of honour' },
  }
  const path = { issuerId }
  await call('POST /oid4vci/issuers/{issuerId}/credential-configurations', { path, body })
  return { issuerId, schemaId }
}

const { issuerId, schemaId } = await configure(pair.issuer, issuingDid)
const toClaims: [string, ...string[]][] = [
  ['Full name (name): string, required. As in the passport', 'Alice Smith', keys.enter],
  ['age: integer, required', keys.enter],
  ['Enter a value', 'old', keys.enter],
  ['such as 42', ...Array<string>(3).fill('\u007f'), '42', keys.enter],
  ['size: S, M', keys.enter],
]
const claims = ['--claim=name=Alice Smith', '--claim=age:=42']

test.each<[string, Record<string, unknown>, string[]]>([
  ['of the only configuration', { oid4vci: '' }, [`--oid4vci=${issuerId}`, '--configuration=Badge']],
  ['of a configuration', { oid4vci: issuerId, configuration: 'Badge' }, []],
  ['of a type', { oid4vci: '', type: 'badge of honour' }, []],
  ['with a URL', { schema: [schemaId] }, []],
  ['with a guid', { schema: [schemaId.split('/').at(-1)!] }, []],
])('each property of the schema %s is asked for', async (_, given, chosen) => {
  const questions = { configuration: whichConfiguration, claim: whichClaims }
  const { complete } = await asked(pair.issuer.call, questions, toClaims, given)
  expect(complete).toEqual([...chosen, ...claims])
})

test('each property of a template is asked for', async () => {
  const { complete } = await asked(
    unconnected.call,
    { claim: whichClaims },
    [['Over 18 years old (ageOver18): boolean, required', 'true', keys.enter]],
    { oid4vci: '', template: 'age-over-18' },
  )
  expect(complete).toEqual(['--claim=ageOver18:=true'])
})

test.each<[string, Record<string, unknown>]>([
  ['of a type that there is not yet', { oid4vci: '', type: 'Diploma' }],
  ['with the URL of another agent', { schema: ['https://agent.example/schemas/badge.json'] }],
  ['that is not there', { schema: ['01a20725-6f2b-7d4e-8c15-b0f3a2917c3d'] }],
])('without the schema %s, any claims are asked for', async (_, given) => {
  const { complete } = await asked(
    pair.issuer.call,
    { claim: whichClaims },
    [
      ['A claim, such as', 'name=Alice', keys.enter],
      ['Another claim', keys.enter],
    ],
    given,
  )
  expect(complete).toEqual(['--claim=name=Alice'])
})

test('without connections, an invitation is an option; commands that need a connection report an error', async () => {
  const { complete } = await asked(unconnected.call, { connection: toWhomOrWallet('--oid4vci=') }, [
    ['Anyone (create an invitation)', keys.enter],
  ])
  expect(complete).toEqual(['--invitation'])
  const terminal = newTerminal()
  const refused = askForMissing({ connection: whichConnection }, [], {
    call: unconnected.call,
    given: {},
    terminal,
  })
  await expect(refused).rejects.toMatchObject({ name: 'UsageError', hint: 'agent connection invite' })
  const noDid = askForMissing({ subject: whichDid('Which?') }, [], {
    call: unconnected.call,
    given: {},
    terminal,
  })
  await expect(noDid).rejects.toMatchObject({ name: 'UsageError', hint: 'agent did create' })
})

test('only records in the right state are options', async () => {
  const body = {
    connectionId: connected.inviterConnectionId,
    issuingDID: issuingDid,
    claims: { name: 'Bob' },
  }
  const offer = await pair.issuer.call('POST /issue-credentials/credential-offers', { body })
  const { recordId } = await credentialIn(pair.holder.call, offer.thid, 'OfferReceived')
  const accept = {
    id: whichRecord('credential', 'credential accept'),
    subject: whichDid('Which DID?', 'subject'),
  }
  const { complete } = await asked(pair.holder.call, accept, [
    ['name=Bob', keys.enter],
    ['Which DID?', keys.enter],
  ])
  expect(complete).toEqual([`--subject=${subject.split(':').slice(0, 3).join(':')}`, recordId])
  const toIssue = askForMissing({ id: whichRecord('credential', 'credential issue') }, [], {
    call: pair.holder.call,
    given: {},
  })
  await expect(toIssue).rejects.toMatchObject({
    message:
      'There is no credential to choose: none is in the state “the holder has accepted the offer, or a wallet has requested the credential”.',
    hint: 'agent credential list',
  })
})

test('a request is selected, then the credential if several match', async () => {
  const { issuer, holder } = pair
  const first = await issue(issuer, holder, connected.inviterConnectionId, issuingDid, subject, {
    name: 'Alice',
  })
  const body = {
    connectionId: connected.inviterConnectionId,
    proofs: [],
    options: { challenge: 'c', domain: 'd' },
  }
  const { thid } = await issuer.call('POST /present-proof/presentations', { body })
  const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
  const questions = { id: whichRecord('proof', 'proof present'), credential: whichCredential }
  const one = await asked(holder.call, questions, [[presentationId.slice(-8), keys.enter]])
  expect(one.complete).toEqual([presentationId])
  const second = await issue(issuer, holder, connected.inviterConnectionId, issuingDid, subject, {
    degree: 'BSc',
  })
  const two = await asked(holder.call, questions, [
    [presentationId.slice(-8), keys.enter],
    ['Which credential?', keys.enter],
  ])
  expect([first, second].map(({ recordId }) => [`--credential=${recordId}`, presentationId])).toContainEqual(
    two.complete,
  )
})
