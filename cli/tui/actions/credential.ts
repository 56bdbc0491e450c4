/** Actions on credential records, and offering a credential. */
import type { CredentialRecord } from '../data/data.ts'
import type { Action, ActionContext } from './action.ts'
import { chooseIssuer, chooseSubject } from './did.ts'
import { expectedStates } from '../../format/states.ts'
import { UsageError } from '../../errors/errors.ts'
import { defaultFormat, isTokenFormat, traitsOf } from '../../../src/definitions/format-names.ts'
import { connectionTitles } from '../../input/credential.ts'
import { readSchema } from '../../client/configurations.ts'
import { type ClaimField, fieldsOf } from '../../input/claim-fields.ts'
import { readClaims } from '../../input/claims.ts'
import { readSeconds } from '../../input/time.ts'
import type { Field } from '../session/prompt.ts'
import { claimsLine } from '../../format/credential.ts'
import { describeOffer, txCodeFault } from '../../format/oid4vci-offer.ts'
import { connectionName } from '../../format/text.ts'
import { claimFields, claimsIn } from './claims.ts'
import { choosePartner, goalField } from './connection.ts'
import { chooseConfiguration, offerToWallet } from './openid.ts'
import { findConnection } from './shared.ts'

export const credentialActions: readonly Action<CredentialRecord>[] = [
  { key: 'a', word: 'accept', when: isFor('credential accept'), run: accept },
  { key: 'x', word: 'reject', when: isFor('credential reject'), run: reject },
  { key: 'i', word: 'issue', when: isFor('credential issue'), run: issue },
  { key: 'r', word: 'revoke', when: isRevocable, run: revoke },
]

function isFor(command: string) {
  return ({ protocolState }: CredentialRecord) => expectedStates(command).includes(protocolState)
}

function isRevocable({ role, credential, revoked }: CredentialRecord): boolean {
  return role === 'Issuer' && credential !== undefined && !revoked
}

async function accept(context: ActionContext, record: CredentialRecord): Promise<string | undefined> {
  if (record.openid4vci) return acceptOfIssuer(context, record, record.openid4vci)
  const { recordId, credentialFormat } = record
  const lines = await offerLines(context, record)
  const hasSubject = isTokenFormat(credentialFormat)
  if (!hasSubject && !(await context.confirm('Accept this offer?', lines))) return undefined
  const subject = hasSubject ? await chooseSubject(context, lines) : undefined
  if (!subject && hasSubject) return undefined
  const { isSelective } = traitsOf(credentialFormat)
  const binding = isSelective && subject ? await chooseBinding(context, subject.keys) : {}
  if (!binding) return undefined
  context.say('Accepting …')
  await context.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId: subject?.did, ...binding },
  })
  return 'The offer is accepted. The credential arrives when the issuer issues it.'
}

/** Accepts the offer of an OpenID4VCI issuer, whose credential is bound to a new key. */
async function acceptOfIssuer(
  context: ActionContext,
  record: CredentialRecord,
  { grant, txCode }: NonNullable<CredentialRecord['openid4vci']>,
): Promise<string | undefined> {
  if (grant === 'authorization_code')
    throw new UsageError(
      'This offer needs your consent in a browser: receive it in a terminal, where you have its text.',
      'agent accept -',
    )
  const lines = describeOffer(record).map(([name, value]) => `${name}: ${value}`)
  if (!(await context.confirm('Accept this offer?', lines))) return undefined
  const check = ({ code = '' }: Record<string, string>) => {
    const fault = txCode && txCodeFault(txCode, code)
    if (fault !== undefined) throw new UsageError(fault)
  }
  const fields = [{ name: 'code', label: 'transaction code', value: '' }]
  const filled = txCode ? await context.fill('Code from the issuer', fields, { check }) : {}
  if (!filled) return undefined
  context.say('Accepting …')
  await context.call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId: record.recordId },
    body: { txCode: filled['code'] },
  })
  return 'The offer is accepted. The credential arrives when the issuer issues it.'
}

/** Describes an offer: who makes it, and what the credential says. */
async function offerLines(context: ActionContext, record: CredentialRecord): Promise<string[]> {
  const connection = await findConnection(context, record)
  return [
    `From ${connection ? connectionName(connection) : 'an invitation'}`,
    `${traitsOf(record.credentialFormat).title} credential: ${claimsLine(record.claims)}`,
  ]
}

/** An SD-JWT without key binding can be presented by anyone who has a copy. */
function chooseBinding(
  context: ActionContext,
  keys: readonly string[],
): Promise<{ keyId?: string } | undefined> {
  return context.choose<{ keyId?: string }>('Bind the SD-JWT to a key of the DID?', [
    ...keys.map((keyId) => ({
      label: `to ${keyId}`,
      detail: 'only this key can present it',
      value: { keyId },
    })),
    { label: 'to no key', detail: 'anyone with a copy can present it', value: {} },
  ])
}

async function reject(
  context: ActionContext,
  { recordId, openid4vci }: CredentialRecord,
): Promise<string | undefined> {
  const isNotified = openid4vci === undefined
  const question = isNotified
    ? 'Decline this offer? The issuer is notified, and the offer can no longer be accepted.'
    : 'Decline this offer? The issuer is not notified.'
  if (!(await context.confirm(question))) return undefined
  context.say('Declining …')
  await context.call('POST /issue-credentials/records/{recordId}/reject-offer', { path: { recordId } })
  return isNotified ? 'The offer is declined, and the issuer is notified.' : 'The offer is declined.'
}

async function issue(context: ActionContext, { recordId }: CredentialRecord): Promise<string> {
  context.say('Issuing …')
  await context.call('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  return 'The credential is issued and on its way to the holder.'
}

async function revoke(context: ActionContext, { recordId }: CredentialRecord): Promise<string | undefined> {
  if (!(await context.confirm('Revoke this credential? This cannot be undone. Verifiers will refuse it.')))
    return undefined
  context.say('Revoking …')
  await context.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  return 'The credential is revoked. Verifiers see it in the status list.'
}

export async function removeCredential(
  context: ActionContext,
  record: CredentialRecord,
): Promise<string | undefined> {
  const { recordId, role, credential } = record
  const lines = [
    ...(role === 'Holder' && credential !== undefined ? ['The credential is deleted with it.'] : []),
    ...(isRevocable(record)
      ? ['The credential stays valid, and can never be revoked afterwards. To revoke it first: n, then r.']
      : []),
    'The other side is not notified.',
  ]
  if (!(await context.confirm('Delete this credential record? This cannot be undone.', lines)))
    return undefined
  await context.call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
  context.store.amend(({ credentials }) => ({
    credentials: credentials.filter((each) => each.recordId !== recordId),
  }))
  return 'The credential record is deleted.'
}

const defaultTitle = traitsOf(defaultFormat).title

const validityField: Field = {
  name: 'validity',
  label: 'expires',
  value: '',
  hint: 'never, or after a period such as 12h or 365d',
}

/** The fields of the form for an offer, the claims first. */
function offerFields(isInvitation: boolean): Field[] {
  return [
    ...claimFields(undefined),
    { name: 'format', label: 'format', value: defaultTitle, words: Object.keys(connectionTitles) },
    validityField,
    { name: 'issue', label: 'issue', value: byHand, words: [byHand, 'when the offer is accepted'] },
    // Over a connection, the other side does not see the goal.
    ...(isInvitation ? [goalField] : []),
  ]
}

const byHand = 'when I press i'

export async function offer(context: ActionContext): Promise<string | undefined> {
  const title = 'Offer a credential: over which connection?'
  const partner = await choosePartner(context, title, 'A wallet of OpenID4VCI')
  if (partner?.isWallet) return offerByLink(context)
  const issuer = partner && (await chooseIssuer(context))
  if (!issuer) return undefined
  const { connectionId } = partner
  const values = await context.fill('Claims of the credential', offerFields(connectionId === null), {
    note: 'The holder of an SD-JWT chooses which claims it shows.',
    check: (given) => void toOffer(given),
  })
  if (!values) return undefined
  const body = { ...toOffer(values), issuingDID: issuer.did }
  context.say('Offering …')
  if (connectionId !== null) {
    await context.call('POST /issue-credentials/credential-offers', { body: { ...body, connectionId } })
    context.goTo('credentials')
    return 'The offer is on its way to the holder.'
  }
  const made = await context.call('POST /issue-credentials/credential-offers/invitation', {
    body: { ...body, goal: values.goal || undefined },
  })
  await context.showNewInvitation('credentials', made)
  return 'The invitation is created. The first agent that accepts it gets the offer.'
}

/** Offers a credential of an OpenID4VCI issuer, whose configuration has the format and the schema. */
async function offerByLink(context: ActionContext): Promise<string | undefined> {
  const configuration = await chooseConfiguration(context)
  if (!configuration) return undefined
  const issuer = configuration.hasSigner ? { did: undefined } : await chooseIssuer(context)
  if (!issuer) return undefined
  const { hasSource: isPart } = configuration
  const known = fieldsOf(await readSchema(context.call, configuration.schemaId), isPart)
  const code: Field = { name: 'code', label: 'code', value: 'none', words: ['none', 'transaction code'] }
  const values = await context.fill(
    `Claims of ${configuration.label}`,
    [...claimFields(known), validityField, code],
    { check: (given) => void toOffer(given, known, isPart) },
  )
  if (!values) return undefined
  const { claims, validityPeriod } = toOffer(values, known, isPart)
  const txCode = values.code !== 'none'
  return offerToWallet(context, configuration, { claims, validityPeriod, issuingDID: issuer.did, txCode })
}

/**
 * Converts the values of the form. `isPart`: a claims source has other claims.
 *
 * @throws {UsageError} when there is no claim, or a value cannot be read
 */
function toOffer(values: Readonly<Record<string, string>>, known?: readonly ClaimField[], isPart = false) {
  const claim = claimsIn(values, known)
  if (claim.length === 0 && !isPart)
    throw new UsageError(`A credential needs a claim: write one${known ? '' : ', such as name=Alice'}.`)
  const { validity = '' } = values
  if (/^\d+$/.test(validity))
    throw new UsageError(`expires ${validity} has no unit: write ${validity}d for days, or ${validity}h.`)
  try {
    return {
      claims: claim.length === 0 ? {} : readClaims({ claim }),
      credentialFormat: connectionTitles[values.format!],
      automaticIssuance: values.issue !== byHand,
      ...(validity !== '' && { validityPeriod: readSeconds('expires', validity) }),
    }
  } catch (error) {
    // In a form there are no flags.
    throw new UsageError((error as Error).message.replace('--', ''))
  }
}
