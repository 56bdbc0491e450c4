/** Actions on presentation records, and requesting a proof. */
import type { PresentationRecord } from '../data/data.ts'
import { proofRequestText, unanswered, type Candidates } from '../../format/proof-request.ts'
import { defaultFormat, traitsOf } from '../../../src/definitions/format-names.ts'
import { connectionTitles } from '../../input/credential.ts'
import { CommandError } from '../../errors/errors.ts'
import { expectedStates } from '../../format/states.ts'
import { claimsLine } from '../../format/credential.ts'
import { parseIssuer } from '../../input/issuers.ts'
import type { Action, ActionContext, Run } from './action.ts'
import { connectionName } from '../../format/text.ts'
import { ago } from '../../format/time.ts'
import { choosePartner, goalField } from './connection.ts'
import { disclosed, issuerField, requestFromWallet, verifierLines } from './openid.ts'
import { findConnection } from './shared.ts'

export const proofActions: readonly Action<PresentationRecord>[] = [
  { key: 'p', word: 'present', when: isFor('proof present'), run: present },
  // Presenting accepts the request: the same action under another key.
  { key: 'a', word: 'accept', isAlias: true, when: isFor('proof present'), run: present },
  {
    key: 'x',
    word: 'reject',
    when: isFor('proof present'),
    run: answer(
      'request-reject',
      'The request is declined.',
      ({ openid4vpRequest }) =>
        `Decline this request? It can no longer be answered. ${openid4vpRequest ? 'The verifier is told (access_denied)' : 'The other side is not notified'}.`,
    ),
  },
  {
    key: 'v',
    word: 'accept',
    when: isFor('proof accept'),
    run: answer('presentation-accept', 'The presentation is accepted.'),
  },
  {
    key: 'x',
    word: 'reject',
    when: isFor('proof accept'),
    run: answer(
      'presentation-reject',
      'The presentation is rejected.',
      () => 'Reject this presentation? It was verified. The other side is not notified.',
    ),
  },
]

function isFor(command: string) {
  return ({ status }: PresentationRecord) => expectedStates(command).includes(status)
}

/** Presents credentials for a request. The user always chooses, and confirms if the request asks for several. */
async function present(context: ActionContext, record: PresentationRecord): Promise<string | undefined> {
  const { presentationId } = record
  context.say('Looking for credentials that match the request …')
  const path = { presentationId }
  const { candidates, others, lines, choice } = await context.call(
    'GET /present-proof/presentations/{presentationId}/candidates',
    { path },
  )
  if (candidates.length === 0) {
    const why =
      others.length === 0
        ? 'it holds none'
        : others.map(({ recordId, reason }) => `${recordId.slice(-8)}: ${reason}`).join('; ')
    throw new CommandError(`No credential of this wallet matches the request (${why}).`, 3, 'x declines it')
  }
  const missing = unanswered(lines)
  if (missing)
    throw new CommandError(`No credential of this wallet satisfies ${missing}.`, 3, 'x declines it')
  const proofId =
    lines.length > 1
      ? await presentSeveral(context, record, choice)
      : await chooseOne(context, record, candidates)
  if (!proofId) return undefined
  context.say('Presenting …')
  await context.call('PATCH /present-proof/presentations/{presentationId}', {
    path,
    body: { action: 'request-accept', proofId },
  })
  return 'The presentation is on its way to the verifier.'
}

/** Describes a request: who makes it, and what it asks for. */
async function requestLines(context: ActionContext, record: PresentationRecord): Promise<string[]> {
  if (record.openid4vpRequest) return [...verifierLines(record), `asks for: ${proofRequestText(record)}`]
  const connection = await findConnection(context, record)
  const from = connection ? connectionName(connection) : 'An invitation'
  return [
    `${from} asks for ${proofRequestText(record)}.`,
    ...(record.goal === undefined ? [] : [`Purpose: “${record.goal}”`]),
  ]
}

async function chooseOne(
  context: ActionContext,
  record: PresentationRecord,
  candidates: Candidates['candidates'],
): Promise<string[] | undefined> {
  const options = candidates.map((candidate) => {
    const { recordId, credentialFormat, claims, issuer, receivedAt } = candidate
    const shown = disclosed(candidate)
    return {
      label: `${claimsOf(context, recordId) ?? claims.join(' ')} (${credentialFormat}, ${ago(receivedAt, Date.now())})`,
      detail: shown === undefined ? issuer : `discloses ${shown}`,
      value: recordId,
    }
  })
  const lines = await requestLines(context, record)
  const credential = await context.choose('Which credential do you present?', options, lines)
  return credential === undefined ? undefined : [credential]
}

/** @throws {CommandError} when there are several choices, which only the command supports */
async function presentSeveral(
  context: ActionContext,
  record: PresentationRecord,
  choice: Candidates['choice'],
): Promise<string[] | undefined> {
  if (!choice)
    throw new CommandError(
      'The request asks for several credentials, and there are several to choose from.',
      2,
      `agent proof present ${record.presentationId}`,
    )
  const lines = [...(await requestLines(context, record)), ...choice.map((id) => claimsOf(context, id) ?? id)]
  const question = `The request asks for several credentials. Present these ${choice.length}?`
  return (await context.confirm(question, lines)) ? choice : undefined
}

/** Returns the claims of a credential with their values. */
function claimsOf(context: ActionContext, recordId: string): string | undefined {
  const record = context.data().credentials.find((each) => each.recordId === recordId)
  return record && claimsLine(record.claims)
}

type Answer = 'request-reject' | 'presentation-accept' | 'presentation-reject'

/** Answers a request or a presentation, after a confirmation if there is a question. */
function answer(
  action: Answer,
  done: string,
  question?: (record: PresentationRecord) => string,
): Run<PresentationRecord> {
  return async (context, record) => {
    const { presentationId } = record
    if (question && !(await context.confirm(question(record)))) return undefined
    context.say('Sending …')
    await context.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action },
    })
    return done
  }
}

export async function removeProof(
  context: ActionContext,
  { presentationId }: PresentationRecord,
): Promise<string | undefined> {
  const question = 'Delete this proof record and its presentations? This cannot be undone.'
  if (!(await context.confirm(question, ['The other side is not notified.']))) return undefined
  await context.call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } })
  context.store.amend(({ proofs }) => ({
    proofs: proofs.filter((each) => each.presentationId !== presentationId),
  }))
  return 'The proof record is deleted.'
}

export async function request(context: ActionContext): Promise<string | undefined> {
  const title = 'Request a proof: from which connection?'
  const partner = await choosePartner(context, title, 'A wallet of OpenID4VP')
  if (!partner) return undefined
  if (partner.isWallet) return requestFromWallet(context)
  const fields = [
    {
      name: 'format',
      label: 'format',
      value: traitsOf(defaultFormat).title,
      words: Object.keys(connectionTitles),
    },
    issuerField,
    // Over a connection, the other side does not see the goal.
    ...(partner.connectionId === null ? [goalField] : []),
    {
      name: 'claim',
      label: 'claim',
      value: '',
      hint: 'name of a claim that an SD-JWT must disclose',
      many: true,
    },
  ]
  const values = await context.fill('Proof request', fields, {
    check: ({ issuer }) => void parseIssuer(issuer),
  })
  if (!values) return undefined
  const claims = Object.entries(values).flatMap(([name, value]) =>
    name.startsWith('claim') && value !== '' ? [[value, '']] : [],
  )
  const body = {
    proofs: [],
    issuers: parseIssuer(values['issuer']),
    goal: values.goal || undefined,
    credentialFormat: connectionTitles[values.format!],
    ...(claims.length > 0 && { claims: Object.fromEntries(claims) as Record<string, string> }),
  }
  context.say('Requesting …')
  const { connectionId } = partner
  if (connectionId !== null) {
    await context.call('POST /present-proof/presentations', { body: { ...body, connectionId } })
    context.goTo('proofs')
    return 'The request is on its way to the prover.'
  }
  const made = await context.call('POST /present-proof/presentations/invitation', { body })
  await context.showNewInvitation('proofs', made)
  return 'The invitation is created. The first agent that accepts it presents the proof.'
}
