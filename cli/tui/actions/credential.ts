/** Actions on credential records, and offering a credential. */
import type { CredentialRecord } from '../data/data.ts'
import { copying, tracing, type Action, type Desk } from './action.ts'
import { chooseIssuer, chooseSubject } from './did.ts'
import { UsageError } from '../../errors/errors.ts'
import { readClaims } from '../../input/claims.ts'
import { choosePartner } from './connection.ts'

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

/** Shows the invitation of an offer until it is answered. */
export function showOffer(desk: Desk, { recordId, invitation }: CredentialRecord): Promise<undefined> {
  desk.showQr('Invitation to accept the offer', invitation!.invitationUrl, ({ credentials }) =>
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
  return 'The offer is accepted. The credential arrives when the issuer issues it.'
}

/** An SD-JWT without key binding can be presented by anyone who has a copy. */
function chooseBinding(desk: Desk, keys: readonly string[]): Promise<{ keyId?: string } | undefined> {
  return desk.choose<{ keyId?: string }>('Bind the SD-JWT to a key of the DID?', [
    ...keys.map((keyId) => ({
      label: `to ${keyId}`,
      detail: 'only this key can present it',
      value: { keyId },
    })),
    { label: 'to no key', detail: 'anyone with a copy can present it', value: {} },
  ])
}

async function reject(desk: Desk, { recordId }: CredentialRecord): Promise<string | undefined> {
  if (
    !(await desk.confirm(
      'Decline this offer? The issuer is notified, and the offer can no longer be accepted.',
    ))
  )
    return undefined
  desk.say('Declining …')
  await desk.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  return 'The offer is declined, and the issuer is notified.'
}

async function issue(desk: Desk, { recordId }: CredentialRecord): Promise<string> {
  desk.say('Issuing …')
  await desk.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  return 'The credential is issued and on its way to the holder.'
}

async function revoke(desk: Desk, { recordId }: CredentialRecord): Promise<string | undefined> {
  if (!(await desk.confirm('Revoke this credential? This cannot be undone. The holder is notified.')))
    return undefined
  desk.say('Revoking …')
  await desk.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  return 'The credential is revoked. Verifiers see it in the status list.'
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

const formats = { JWT: 'JWT', 'SD-JWT': 'SDJWT' } as const

export async function offer(desk: Desk): Promise<string | undefined> {
  const partner = await choosePartner(desk, 'Offer a credential: over which connection?')
  const issuer = partner && (await chooseIssuer(desk))
  if (!issuer) return undefined
  const said = await desk.fill(
    'Claims of the credential',
    [
      { name: 'format', label: 'format', value: 'JWT', words: Object.keys(formats) },
      {
        name: 'issue',
        label: 'issue',
        value: 'when I press i',
        words: ['when I press i', 'as soon as the offer is accepted'],
      },
      { name: 'claim', label: 'claim', value: '', hint: 'name=Alice, or age:=42 for JSON', many: true },
    ],
    { start: 'claim', note: 'The holder of an SD-JWT chooses which claims it shows.', check: toClaims },
  )
  if (!said) return undefined
  const body = {
    issuingDID: issuer.did,
    claims: toClaims(said),
    credentialFormat: formats[said.format as keyof typeof formats],
    automaticIssuance: said.issue !== 'when I press i',
  }
  desk.say('Offering …')
  const { connectionId } = partner
  if (connectionId !== null) {
    await desk.call('POST /issue-credentials/credential-offers', { body: { ...body, connectionId } })
    desk.goTo('credentials')
    return 'The offer is on its way to the holder.'
  }
  const made = await desk.call('POST /issue-credentials/credential-offers/invitation', { body })
  await desk.until('the offer is in the list', ({ credentials }) =>
    credentials.some(({ recordId }) => recordId === made.recordId),
  )
  desk.goTo('credentials')
  await showOffer(desk, made)
  return 'The invitation is created. The first agent that accepts it gets the offer.'
}

/** The claims of the form. @throws {UsageError} when there is none, or one cannot be read. */
function toClaims(said: Readonly<Record<string, string>>) {
  const claim = Object.entries(said).flatMap(([name, value]) =>
    name.startsWith('claim') && value !== '' ? [value] : [],
  )
  if (claim.length === 0) throw new UsageError('A credential needs a claim: write one, such as name=Alice.')
  try {
    return readClaims({ claim })
  } catch (error) {
    // In a form there are no flags.
    throw new UsageError((error as Error).message.replace('--claim', 'claim'))
  }
}
