/** Prompts at a terminal about records of a real agent. */
import { expect, test } from 'vitest'
import { askForMissing, type Questions } from '../../cli/prompts/missing.ts'
import {
  toWhom,
  whichConnection,
  whichCredential,
  whichDid,
  whichRecord,
} from '../../cli/prompts/questions.ts'
import { whichClaims } from '../../cli/prompts/claims.ts'
import type { Client } from '../../daemon/client/client.ts'
import { connect, credentialIn, issue, newDid, presentationIn, startPair } from '../support/tenants.ts'
import { keys, newTerminal, type TestTerminal } from './_terminal.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startPair())
const unconnected = await pair.agent.newTenant('unconnected')
const issuingDid = (await newDid(pair.issuer, 'assertionMethod')).did
const subject = (await newDid(pair.holder, 'authentication')).longFormDid
const connected = await connect(pair.issuer, pair.holder)
await pair.issuer.call('POST /connections', { body: { label: 'not connected' } })

/** Runs prompts at a terminal. Waits for each text, then types its answer. */
async function asked(call: Client, questions: Questions, steps: [shown: string, ...typed: string[]][]) {
  const terminal: TestTerminal = newTerminal()
  const complete = askForMissing(questions, [], { call, given: {}, terminal })
  for (const [shown, ...typed] of steps) {
    await terminal.shows(shown)
    terminal.types(...typed)
  }
  return { complete: await complete, text: terminal.text() }
}

test('an offer is composed of existing connections, DIDs and single claims', async () => {
  const questions = {
    connection: toWhom,
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

test('without connections, an invitation is an option; commands that need a connection report an error', async () => {
  const { complete } = await asked(unconnected.call, { connection: toWhom }, [
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
