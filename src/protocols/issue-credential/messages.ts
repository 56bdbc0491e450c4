/** What the messages of issue-credential 3.0 say, as the real agent writes them and as others do (wire.md 4). */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { Attributes, fromAttributes, toAttributes } from '../../credentials/claims-preview.ts'
import type { Attachment } from '../../didcomm/message.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { hasPrototypeMember } from '../../base/json.ts'
import { readContent, type CredentialFormat } from '../formats.ts'
import { peersOf } from '../peers.ts'
import type { Received } from '../engine/receive.ts'
import type { Outgoing } from '../engine/record.ts'
import { type Change, type Choice, type Said, formatOf, issuanceFormats } from './format.ts'
import type { CredentialRecord } from './model.ts'

const OfferBody = z.looseObject({
  credential_preview: z.looseObject({
    schema_id: z.string().nullish(),
    schema_ids: z.array(z.string()).nullish(),
    body: z.looseObject({ attributes: Attributes }),
  }),
})

/** What every offer says, whatever its format. */
export type Offer = {
  credentialFormat: CredentialFormat
  claims: Record<string, unknown>
  schemaIds: string[]
}

/** Writes an offer's body around what its format says. */
export function writeOffer(
  { claims, schemaIds }: Pick<Offer, 'claims' | 'schemaIds'>,
  attachments: Attachment[],
): { body: Record<string, unknown>; attachments: Attachment[] } {
  const [schema_id] = schemaIds
  return {
    body: {
      goal_code: 'Offer Credential',
      credential_preview: {
        type: 'https://didcomm.org/issue-credential/3.0/credential-credential',
        ...(schema_id !== undefined && { schema_ids: schemaIds, schema_id }),
        body: { attributes: toAttributes(claims) },
      },
    },
    attachments,
  }
}

/** Reads an offer. @throws {Problem} `InvalidCredentialOffer`, naming the member that is wrong. */
export function readOffer(message: Received): Offer & Change {
  try {
    const { credential_preview: preview } = OfferBody.parse(message.body)
    const claims = fromAttributes(preview.body.attributes)
    if (hasPrototypeMember(claims)) throw new TypeError('a claim has a member named __proto__')
    const { content, credentialFormat } = readContent(message)
    const schemaIds = preview.schema_ids ?? (preview.schema_id ? [preview.schema_id] : [])
    return {
      credentialFormat,
      claims: claims as Change['claims'] & object,
      schemaIds,
      ...issuanceFormats[credentialFormat].readOffer(content, claims),
    }
  } catch (error) {
    throw new Problem(
      'error:CredentialServiceError:InvalidCredentialOffer',
      `The offer cannot be read: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    )
  }
}

/**
 * Writes the request for what a record offers, and what the record is to remember of it.
 *
 * @throws {Problem} for a choice that cannot be made, and when the connection cannot be used any more.
 */
export async function writeRequest(
  wallet: Wallet,
  record: CredentialRecord,
  choice: Choice,
): Promise<{ message: Outgoing<'request'>; change: Change }> {
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { change, ...said } = await formatOf(record).request(wallet, record, choice)
  return { message: { type: 'request', from: myDid, to: theirDid, ...withBody(said) }, change }
}

/** A message that need not say anything in its body has an empty one. */
export function withBody({ attachments, body = {} }: Said): {
  body: Record<string, unknown>
  attachments: Attachment[]
} {
  return { body, attachments }
}
