/** What an offer of issue-credential 3.0 says, as the real agent writes it and as others do (wire.md 4.1). */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { Attributes, fromAttributes, toAttributes } from '../../credentials/claims-preview.ts'
import type { Attachment } from '../../didcomm/message.ts'
import { challengeAttachment, readChallenge, readContent, type ProofOptions } from '../attachments.ts'
import type { CredentialFormat } from '../formats.ts'
import { namesPrototype } from '../names-prototype.ts'
import type { Received } from '../receive.ts'

const OfferBody = z.looseObject({
  credential_preview: z.looseObject({
    schema_id: z.string().nullish(),
    schema_ids: z.array(z.string()).nullish(),
    body: z.looseObject({ attributes: Attributes }),
  }),
})

/** Format, claims, schemas, and what the holder's proof must be bound to. */
export type Offer = ProofOptions & { credentialFormat: CredentialFormat; claims: Record<string, unknown>; schemaIds: string[] }

/** Writes an offer's body and attachment. */
export function writeOffer({ credentialFormat, claims, schemaIds, challenge, domain }: Offer): {
  body: Record<string, unknown>
  attachments: Attachment[]
} {
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
    attachments: challengeAttachment({ challenge, domain }, credentialFormat).attachments,
  }
}

/** Reads an offer. @throws {Problem} `InvalidCredentialOffer`, naming the member that is wrong. */
export function readOffer(message: Received): Offer {
  try {
    const { credential_preview: preview } = OfferBody.parse(message.body)
    const claims = fromAttributes(preview.body.attributes)
    if (namesPrototype(claims)) throw new TypeError('a claim has a member named __proto__')
    const { content, credentialFormat } = readContent(message)
    return {
      ...readChallenge(content),
      credentialFormat,
      claims,
      schemaIds: preview.schema_ids ?? (preview.schema_id ? [preview.schema_id] : []),
    }
  } catch (error) {
    throw new Problem('error:CredentialServiceError:InvalidCredentialOffer', `The offer cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
}
