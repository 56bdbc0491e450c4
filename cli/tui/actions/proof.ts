/** Actions on presentation records, and requesting a proof. */
import type { PresentationRecord } from '../data/data.ts'
import { unanswered, type Candidates } from '../../format/proof-request.ts'
import { CommandError } from '../../errors/errors.ts'
import { claimsLine } from '../panes/credentials.ts'
import { copying, tracing, type Action, type Desk } from './action.ts'
import { choosePartner } from './connection.ts'

export function proofActions(record: PresentationRecord): Action[] {
  const { presentationId, role, status, invitation } = record
  const isOpen = status === 'InvitationGenerated'
  return [
    ...(role === 'Prover' && status === 'RequestReceived'
      ? [
          { key: 'p', word: 'present', run: (desk: Desk) => present(desk, record) },
          // Presenting accepts the request: the same action under another key.
          { key: 'a', word: 'accept', isAlias: true, run: (desk: Desk) => present(desk, record) },
          { key: 'x', word: 'reject', run: (desk: Desk) => decline(desk, record) },
        ]
      : []),
    ...(status === 'PresentationVerified'
      ? [
          { key: 'v', word: 'accept', run: (desk: Desk) => verify(desk, record) },
          { key: 'x', word: 'reject', run: (desk: Desk) => rejectPresentation(desk, record) },
        ]
      : []),
    ...(isOpen ? [{ key: 'Q', word: 'QR', run: (desk: Desk) => showRequest(desk, record) }] : []),
    ...tracing(record.thid),
    { key: 'd', word: 'delete', run: (desk: Desk) => remove(desk, record) },
    ...copying('id', presentationId, isOpen ? invitation?.invitationUrl : undefined),
  ]
}

/** Shows the invitation of a proof request until it is answered. */
export function showRequest(
  desk: Desk,
  { presentationId, invitation }: PresentationRecord,
): Promise<undefined> {
  desk.showQr('Invitation to present a proof', invitation!.invitationUrl, ({ proofs }) =>
    proofs.some((each) => each.presentationId === presentationId && each.status === 'InvitationGenerated'),
  )
  return Promise.resolve(undefined)
}

/** Presents credentials for a request. The user always chooses, and confirms if the request asks for several. */
async function present(desk: Desk, { presentationId }: PresentationRecord): Promise<string | undefined> {
  desk.say('Looking for credentials that match the request …')
  const path = { presentationId }
  const { candidates, others, lines, choice } = await desk.call(
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
    lines.length > 1 ? await presentSeveral(desk, presentationId, choice) : await chooseOne(desk, candidates)
  if (!proofId) return undefined
  desk.say('Presenting …')
  await desk.call('PATCH /present-proof/presentations/{presentationId}', {
    path,
    body: { action: 'request-accept', proofId },
  })
  return 'The presentation is on its way to the verifier.'
}

async function chooseOne(desk: Desk, candidates: Candidates['candidates']): Promise<string[] | undefined> {
  const options = candidates.map(({ recordId, credentialFormat, claims, issuer }) => ({
    label: `${claimsOf(desk, recordId) ?? claims.join(' ')} (${credentialFormat})`,
    detail: issuer,
    value: recordId,
  }))
  const credential = await desk.choose('Which credential do you present?', options)
  return credential === undefined ? undefined : [credential]
}

/** @throws {CommandError} when there are several choices, which only the command supports */
async function presentSeveral(
  desk: Desk,
  presentationId: string,
  choice: Candidates['choice'],
): Promise<string[] | undefined> {
  if (!choice)
    throw new CommandError(
      'The request asks for several credentials, and there are several to choose from.',
      2,
      `agent proof present ${presentationId}`,
    )
  return (await desk.confirm(`The request asks for several credentials. Present these ${choice.length}?`))
    ? choice
    : undefined
}

/** Returns the claims of a credential with their values. */
function claimsOf(desk: Desk, recordId: string): string | undefined {
  const record = desk.data().credentials.find((each) => each.recordId === recordId)
  return record && claimsLine(record.claims)
}

async function decline(desk: Desk, record: PresentationRecord): Promise<string | undefined> {
  if (
    !(await desk.confirm(
      'Decline this request? It can no longer be answered. The other side is not notified.',
    ))
  )
    return undefined
  await act(desk, record, 'request-reject')
  return 'The request is declined.'
}

async function verify(desk: Desk, record: PresentationRecord): Promise<string> {
  await act(desk, record, 'presentation-accept')
  return 'The presentation is accepted.'
}

async function rejectPresentation(desk: Desk, record: PresentationRecord): Promise<string | undefined> {
  if (!(await desk.confirm('Reject this presentation? It was verified. The other side is not notified.')))
    return undefined
  await act(desk, record, 'presentation-reject')
  return 'The presentation is rejected.'
}

async function remove(desk: Desk, { presentationId }: PresentationRecord): Promise<string | undefined> {
  const question = 'Delete this proof record and its presentations? This cannot be undone.'
  if (!(await desk.confirm(question, ['The other side is not notified.']))) return undefined
  await desk.call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } })
  desk.store.amend(({ proofs }) => ({
    proofs: proofs.filter((each) => each.presentationId !== presentationId),
  }))
  return 'The proof record is deleted.'
}

async function act(
  desk: Desk,
  { presentationId }: PresentationRecord,
  action: 'request-reject' | 'presentation-accept' | 'presentation-reject',
) {
  desk.say('Sending …')
  await desk.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action },
  })
}

export async function request(desk: Desk): Promise<string | undefined> {
  const partner = await choosePartner(desk, 'Request a proof: from which connection?')
  if (!partner) return undefined
  const said = await desk.fill('Proof request', [
    { name: 'format', label: 'format', value: 'JWT', words: ['JWT', 'SD-JWT'] },
    // Over a connection, the other side does not see the goal.
    ...(partner.connectionId === null
      ? [{ name: 'goal', label: 'goal', value: '', hint: 'its purpose, which the other side sees' }]
      : []),
    {
      name: 'claim',
      label: 'claim',
      value: '',
      hint: 'name of a claim that an SD-JWT must disclose',
      many: true,
    },
  ])
  if (!said) return undefined
  const claims = Object.entries(said).flatMap(([name, value]) =>
    name.startsWith('claim') && value !== '' ? [[value, '']] : [],
  )
  const body = {
    proofs: [],
    goal: said.goal || undefined,
    credentialFormat: said.format === 'JWT' ? ('JWT' as const) : ('SDJWT' as const),
    ...(claims.length > 0 && { claims: Object.fromEntries(claims) as Record<string, string> }),
  }
  desk.say('Requesting …')
  const { connectionId } = partner
  if (connectionId !== null) {
    await desk.call('POST /present-proof/presentations', { body: { ...body, connectionId } })
    desk.goTo('proofs')
    return 'The request is on its way to the prover.'
  }
  const made = await desk.call('POST /present-proof/presentations/invitation', { body })
  await desk.until('the request is in the list', ({ proofs }) =>
    proofs.some(({ presentationId }) => presentationId === made.presentationId),
  )
  desk.goTo('proofs')
  await showRequest(desk, made)
  return 'The invitation is created. The first agent that accepts it presents the proof.'
}
