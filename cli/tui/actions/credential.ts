/** What can be done with a credential record. */
import type { CredentialRecord } from '../data/data.ts'
import type { Action, Desk } from './action.ts'
import { copying } from './copying.ts'
import { tracing } from './tracing.ts'
import { chooseSubject } from './own-dids.ts'

export function credentialActions(record: CredentialRecord): Action[] {
  const { recordId, role, protocolState, credential, revoked, invitation } = record
  const isOpen = protocolState === 'InvitationGenerated'
  return [
    ...(role === 'Holder' && protocolState === 'OfferReceived'
      ? [
          { key: 'a', word: 'accept', run: (desk: Desk) => accept(desk, record) },
          { key: 'x', word: 'reject', run: (desk: Desk) => reject(desk, record) },
        ]
      : []),
    ...(protocolState === 'RequestReceived'
      ? [{ key: 'i', word: 'issue', run: (desk: Desk) => issue(desk, record) }]
      : []),
    ...(role === 'Issuer' && credential !== undefined && !revoked
      ? [{ key: 'r', word: 'revoke', run: (desk: Desk) => revoke(desk, record) }]
      : []),
    ...(isOpen ? [{ key: 'Q', word: 'QR', run: (desk: Desk) => showOffer(desk, record) }] : []),
    ...tracing(record.thid),
    { key: 'd', word: 'delete', run: (desk: Desk) => remove(desk, record) },
    ...copying('id', recordId, isOpen ? invitation?.invitationUrl : undefined),
  ]
}

/** Shows the invitation to an offer until somebody has answered it. */
export function showOffer(desk: Desk, { recordId, invitation }: CredentialRecord): Promise<undefined> {
  desk.showQr('Invitation to take the offer', invitation!.invitationUrl, ({ credentials }) =>
    credentials.some((each) => each.recordId === recordId && each.protocolState === 'InvitationGenerated'),
  )
  return Promise.resolve(undefined)
}

async function accept(
  desk: Desk,
  { recordId, credentialFormat }: CredentialRecord,
): Promise<string | undefined> {
  const isAnonCreds = credentialFormat === 'AnonCreds'
  const subject = isAnonCreds ? undefined : await chooseSubject(desk)
  if (!subject && !isAnonCreds) return undefined
  const binding = credentialFormat === 'SDJWT' && subject ? await chooseBinding(desk, subject.keys) : {}
  if (!binding) return undefined
  desk.say('Accepting …')
  await desk.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId: subject?.did, ...binding },
  })
  return 'The offer is accepted; the credential comes once the issuer issues it.'
}

/** Whoever has an SD-JWT that is bound to no key can show it. */
function chooseBinding(desk: Desk, keys: readonly string[]): Promise<{ keyId?: string } | undefined> {
  return desk.choose<{ keyId?: string }>('Bind the SD-JWT to a key of the DID?', [
    ...keys.map((keyId) => ({
      label: `to ${keyId}`,
      detail: 'with that key alone it can be shown',
      value: { keyId },
    })),
    { label: 'to no key', detail: 'whoever has it can show it', value: {} },
  ])
}

async function reject(desk: Desk, { recordId }: CredentialRecord): Promise<string | undefined> {
  if (!(await desk.confirm('Decline this offer? The issuer is told, and it cannot be accepted any more.')))
    return undefined
  desk.say('Declining …')
  await desk.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  return 'The offer is declined, and the issuer is told.'
}

async function issue(desk: Desk, { recordId }: CredentialRecord): Promise<string> {
  desk.say('Issuing …')
  await desk.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  return 'The credential is made and on its way to the holder.'
}

async function revoke(desk: Desk, { recordId }: CredentialRecord): Promise<string | undefined> {
  if (!(await desk.confirm('Revoke this credential? It cannot be taken back, and the holder is told.')))
    return undefined
  desk.say('Revoking …')
  await desk.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  return 'The credential is revoked: the status list says so to whoever verifies.'
}

async function remove(
  desk: Desk,
  { recordId, role, credential, revoked }: CredentialRecord,
): Promise<string | undefined> {
  const isValid = role === 'Issuer' && credential !== undefined && !revoked
  const lines = [
    ...(role === 'Holder' && credential !== undefined ? ['The credential is deleted with it.'] : []),
    ...(isValid
      ? ['The credential stays valid, and can never be revoked afterwards. To revoke it first: n, then r.']
      : []),
    'The other side is not notified.',
  ]
  if (!(await desk.confirm('Delete this credential record? This cannot be undone.', lines))) return undefined
  await desk.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
  desk.store.amend(({ credentials }) => ({
    credentials: credentials.filter((each) => each.recordId !== recordId),
  }))
  return 'The credential record is deleted.'
}
