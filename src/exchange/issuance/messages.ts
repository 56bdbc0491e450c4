/** Reading and writing the messages of Issue Credential 3.0, as the Cloud Agent and other wallets write them. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { Attributes, fromAttributes, toAttributes } from '../../credentials/codecs/claims-preview.ts'
import type { Attachment } from '../didcomm/message.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { hasPrototypeMember } from '../../foundation/json.ts'
import { readContent, type CredentialFormat } from '../protocols/attachments.ts'
import { peersOf } from '../protocols/peers.ts'
import type { Received } from '../engine/receive.ts'
import type { Outgoing } from '../engine/protocol.ts'
import { type CredentialChange, type AcceptOptions, issuanceFormatOf, issuanceFormats } from './format.ts'
import type { CredentialRecord } from './model.ts'

const OfferBody = z.looseObject({
  credential_preview: z.looseObject({
    schema_id: z.string().nullish(),
    schema_ids: z.array(z.string()).nullish(),
    body: z.looseObject({ attributes: Attributes }),
  }),
})

/** The parts of an offer that all formats have. */
export type Offer = {
  credentialFormat: CredentialFormat
  claims: Record<string, unknown>
  schemaIds: string[]
}

/** Writes an offer. */
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

/** Reads an offer. @throws {Problem} `InvalidCredentialOffer`, naming the invalid member */
export function readOffer(message: Received): Offer & CredentialChange {
  try {
    const { credential_preview: preview } = OfferBody.parse(message.body)
    const claims = fromAttributes(preview.body.attributes)
    if (hasPrototypeMember(claims)) throw new TypeError('a claim has a member named __proto__')
    const { content, credentialFormat } = readContent(message)
    const schemaIds = preview.schema_ids ?? (preview.schema_id ? [preview.schema_id] : [])
    return {
      credentialFormat,
      claims: claims as CredentialChange['claims'] & object,
      schemaIds,
      ...issuanceFormats[credentialFormat].readOffer(content, claims),
    }
  } catch (cause) {
    const detail = `The offer cannot be read: ${reasonOf(cause)}.`
    throw new Problem('error:CredentialServiceError:InvalidCredentialOffer', detail, { cause })
  }
}

/**
 * Writes the request for an offered credential, and the change of the record.
 *
 * @throws {Problem} if the options are invalid, or the connection cannot be used any more
 */
export async function writeRequest(
  wallet: Wallet,
  record: CredentialRecord,
  choice: AcceptOptions,
): Promise<{ message: Outgoing<'request'>; change: CredentialChange }> {
  const { myDid, theirDid } = await peersOf(wallet.db, record)
  const { change, ...content } = await issuanceFormatOf(record).request(wallet, record, choice)
  return { message: { type: 'request', from: myDid, to: theirDid, body: {}, ...content }, change }
}
