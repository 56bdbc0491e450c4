/** Answers to invitations of DIDComm: a connection, a credential offer, a proof request. */
import { findSubjects, needsSubject, noSubject, severalDids } from './client/subjects.ts'
import type { Answer, Input } from './client/api.ts'
import type { Context } from './define-command.ts'
import { ProblemError } from '../daemon/client/client.ts'
import { CommandError } from './errors/errors.ts'
import { acceptedOffers } from './format/records.ts'
import { shownState } from './format/states.ts'
import type { Incoming } from './incoming.ts'
import { changeRecord, type Records, type WaitFlags } from './wait.ts'

type Waiting = Context<object, WaitFlags>
type Subject = Pick<
  NonNullable<Input<'POST /issue-credentials/records/{recordId}/accept-offer'>['body']>,
  'subjectId' | 'keyId' | 'txCode'
>

/** Accepts an invitation to connect. */
export function acceptConnection(
  context: Waiting,
  { oob }: Incoming,
  terms: Omit<Input<'POST /connection-invitations'>['body'], 'invitation'>,
): Promise<Records['connection']> {
  const { call, print } = context
  return changeRecord(context, 'connection', {
    until: 'ConnectionResponseReceived',
    change: () => call('POST /connection-invitations', { body: { invitation: oob!, ...terms } }),
    print: ({ connectionId, label, goal, state, automaticAcceptance: accepted }) =>
      print(connectionId, [
        ['connection', connectionId],
        ['label', label],
        ['goal', goal],
        ['state', shownState('connection', state)],
        ['offers', accepted && acceptedOffers(accepted)],
      ]),
    next: ({ connectionId }) => `agent connection show ${connectionId}`,
  })
}

/** Receives the offer in an invitation, or finds it again. It is not accepted yet. */
export function receiveOffer({ call }: Context, incoming: Incoming): Promise<Records['credential']> {
  const body = { invitation: incoming.oob! }
  return orReceived(
    call('POST /issue-credentials/credential-offers/accept-invitation', { body }),
    'credential',
    async () => {
      const query = { thid: threadIn(incoming), role: 'Holder' }
      const [found] = (await call('GET /issue-credentials/records', { query })).contents
      return found && { record: found, id: found.recordId, isOpen: found.protocolState === 'OfferReceived' }
    },
  )
}

/** Receives the proof request in an invitation, or finds it again. It is not answered yet. */
export function receiveRequest({ call }: Context, incoming: Incoming): Promise<Records['proof']> {
  const body = { invitation: incoming.oob! }
  return orReceived(
    call('POST /present-proof/presentations/accept-invitation', { body }),
    'proof',
    async () => {
      const query = { thid: threadIn(incoming), role: 'Prover' }
      const [found] = (await call('GET /present-proof/presentations', { query })).contents
      return found && { record: found, id: found.presentationId, isOpen: found.status === 'RequestReceived' }
    },
  )
}

/**
 * The record that is received, or that was received before by the same invitation and waits for an answer: an
 * earlier attempt may have ended before the answer.
 *
 * @throws {CommandError} 5 if it was answered
 */
async function orReceived<Record>(
  receiving: Promise<Record>,
  topic: 'credential' | 'proof',
  find: () => Promise<{ record: Record; id: string; isOpen: boolean } | undefined>,
): Promise<Record> {
  try {
    return await receiving
  } catch (error) {
    const isKnown =
      error instanceof ProblemError && (error.problem.type ?? '').endsWith('InvitationAlreadyReceived')
    const found = isKnown ? await find() : undefined
    if (!found) throw error
    if (found.isOpen) return found.record
    throw new CommandError(
      `This wallet has answered it already: an invitation is answered once. Ask for a new one.`,
      5,
      `agent ${topic} show ${found.id}`,
    )
  }
}

/** The thread of the message in an invitation. */
function threadIn({ invitation }: Incoming): string {
  const [attachment] = invitation!.attachments ?? []
  const { id, thid } = (attachment?.data as { json?: { id?: string; thid?: string } } | undefined)?.json ?? {}
  return thid ?? id ?? invitation!.id
}

/** Accepts a received offer. */
export function acceptOffer(
  context: Waiting,
  recordId: string,
  body: Subject,
): Promise<Records['credential']> {
  return changeRecord(context, 'credential', {
    until: 'CredentialReceived',
    change: () =>
      context.call('POST /issue-credentials/records/{recordId}/accept-offer', { path: { recordId }, body }),
    next: () => `agent credential show ${recordId}`,
  })
}

/**
 * The only DID that can be the subject; undefined for AnonCreds and OpenID4VCI.
 *
 * @throws {UsageError} when there are several DIDs or none.
 */
export async function onlySubject(
  { call }: Pick<Context, 'call'>,
  record: Answer<'GET /issue-credentials/records/{recordId}'>,
  name = '--subject',
): Promise<string | undefined> {
  if (!needsSubject(record)) return undefined
  const [only, ...more] = await findSubjects(call)
  if (!only) throw noSubject()
  if (more.length > 0) throw severalDids([only, ...more], name)
  return only.did
}
