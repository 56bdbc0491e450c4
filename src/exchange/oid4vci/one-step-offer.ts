/**
 * A credential offer in one step: what is missing of issuer, schema, configuration and DID is made. After a
 * failure, what was made is removed again, but for a DID, which the problem names.
 */
import * as z from 'zod'
import {
  defaultDocumentFormat,
  defaultOpenIdFormat,
  formatNames,
  type OpenIdFormat,
  openIdFormats,
} from '../../definitions/format-names.ts'
import { getTemplate, templateNames } from '../../definitions/templates/index.ts'
import type { TemplateFile } from '../../definitions/templates/model.ts'
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { createSigner } from '../../wallet/did-registrar/signers.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { createOnce } from '../engine/idempotency.ts'
import { issueCredential } from '../issuance/model.ts'
import { chooseConfiguration, chooseIssuer, chooseSigner } from './choices.ts'
import { ConfigurationId } from './configuration-members.ts'
import type { ConfigurationRow } from './configurations.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import { inTurn, makeConfiguration, makeIssuer, type Making, undo } from './making.ts'
import { OpenIdCredentialOffer, readReply } from './offer-object.ts'
import { type CreateOpenIdCredentialOffer, OfferFields } from './offer-members.ts'
import { beginOffer } from './offers.ts'
import { Claims } from '../issuance/offers.ts'

export const OfferInOneStep = OfferFields.omit({ credentials: true })
  .extend({
    claims: optional(Claims).describe(
      'Required, unless the configuration has a claims source, or people log in.',
    ),
    issuerId: optional(Uuid).describe(
      'The issuer. Default: the only one of the wallet, or a new one with the name of the tenant.',
    ),
    credentialConfigurationId: optional(ConfigurationId).describe(
      'The configuration. Default: that of the type, or the only one of the issuer, or a new one.',
    ),
    type: optional(z.string().trim().min(1).max(100)).describe(
      'The id, the name or the `vct` of a configuration. If the issuer has none such, it is made with a schema of the claims. Default: the title of the template, or `Credential` for the first.',
    ),
    template: optional(z.enum(templateNames)).describe(
      'A template, whose schema and colours a new configuration has.',
    ),
    format: optional(z.enum(openIdFormats)).describe(
      `The format of a new configuration. Default: that of the template, or \`${formatNames[defaultOpenIdFormat].openid.id}\`.`,
    ),
  })
  .meta({ id: 'CredentialOfferInOneStep', examples: [{ type: 'Person', claims: { name: 'Alice' } }] })
export type OfferInOneStep = z.output<typeof OfferInOneStep>

const Made = z
  .object({
    kind: z.enum(['did', 'issuer', 'certificate', 'schema', 'configuration']),
    id: z.string(),
    name: z.string().optional().describe('For people.'),
  })
  .meta({ id: 'MadeForOffer' })
export type Made = z.infer<typeof Made>

export const OfferedInOneStep = OpenIdCredentialOffer.extend({
  issuerId: z.guid(),
  credentialConfigurationId: z.string(),
  issuingDID: z.string().optional().describe('Absent if an issuer certificate signs.'),
  made: z.array(Made).describe('What was missing and has been made, in this order.'),
}).meta({ id: 'OfferedInOneStep' })
export type OfferedInOneStep = z.infer<typeof OfferedInOneStep>

type Context = { db: AgentDb; wallet: Wallet }

/**
 * Offers a credential, and makes what is missing. A repeated request with the same idempotency key returns
 * the first offer.
 *
 * @throws {Problem} 400 if there are several issuers, configurations or DIDs to choose from; like
 * `createOffer`
 */
export function offerInOneStep(
  context: Context,
  body: OfferInOneStep,
  key?: string,
): Promise<OfferedInOneStep> {
  // Two requests at once must not both make the first issuer.
  return inTurn(context.wallet.id, async () => {
    const made: Making[] = []
    let reply: OpenIdCredentialOffer | undefined
    const record = await createOnce(context.wallet, issueCredential, { key, body }, async (created) => {
      try {
        const terms = await prepare(context, body, made)
        const begun = await beginOffer(context, terms.issuer, terms.offered, created)
        reply = begun.reply
        return begun.record
      } catch (error) {
        throw await undo(made, withWayOut(error, made))
      }
    })
    const { issuerId, configurationId } = record.openid4vci!
    const issuer = await getOwnIssuer(context.db, context.wallet.id, issuerId)
    return {
      ...(reply ?? (await readReply(context.wallet, issuer, record))),
      issuerId,
      credentialConfigurationId: configurationId,
      ...(record.issuingDID !== undefined && { issuingDID: record.issuingDID }),
      made: made.map(({ kind, id, name }) => ({ kind, id, ...(name !== undefined && { name }) })),
    }
  })
}

/** Claims that an existing configuration does not have are those of another type. */
function withWayOut(error: unknown, made: readonly Making[]): unknown {
  const isOfClaims =
    error instanceof Problem && error.type === 'error:CredentialSchemaError:CredentialSchemaValidationError'
  if (!isOfClaims || made.some(({ kind }) => kind === 'configuration')) return error
  const detail = `${error.message.replace(/\.?$/, '.')} The credential has this schema already: name another type to offer other claims.`
  return new Problem(error.type, detail, { cause: error })
}

/** The issuer and the terms of the offer. Adds to `made` what it makes. */
async function prepare(
  context: Context,
  body: OfferInOneStep,
  made: Making[],
): Promise<{ issuer: IssuerRow; offered: CreateOpenIdCredentialOffer }> {
  const { issuerId, credentialConfigurationId, type, template: name, format, ...offer } = body
  const template = name === undefined ? undefined : getTemplate(name)
  const wanted = type ?? template?.title
  const known = await chooseIssuer(context, issuerId)
  if (!known && credentialConfigurationId !== undefined)
    throw new Problem(
      'BadRequest',
      'credentialConfigurationId: the wallet has no issuer yet. Leave it out to make one, and name a type.',
    )
  const choice = { credentialConfigurationId, type: wanted }
  const found = known && (await chooseConfiguration(context, known, choice))
  if (found && format !== undefined && found.format !== format)
    throw new Problem(
      'BadRequest',
      `format: the configuration ${found.id} has the format ${found.format}. Leave the format out, or name another type.`,
    )
  const { claims } = body
  if (!found && !claims) throw new Problem('BadRequest', 'claims: Missing request parameter: claims')
  const issuingDID = await signerOf(context, body, found, made)
  const issuer = known ?? (await makeIssuer(context, made))
  const configuration =
    found ??
    (await makeConfiguration(context, made, {
      issuer,
      name: wanted ?? 'Credential',
      claims: claims!,
      template,
      format: format ?? defaultFormatOf(template),
      issuingDID: issuingDID!,
    }))
  const signer = configuration.certificate_id === null ? issuingDID : body.issuingDID
  const credential = { issuingDID: signer, credentialConfigurationId: configuration.id }
  return { issuer, offered: { ...offer, ...credential, credentials: undefined } }
}

function defaultFormatOf(template: TemplateFile | undefined): OpenIdFormat {
  return formatNames[template?.document ? defaultDocumentFormat : defaultOpenIdFormat].openid.id
}

/** The DID that signs. Undefined for a configuration with an issuer certificate. */
async function signerOf(
  { db, wallet }: Context,
  { issuingDID }: OfferInOneStep,
  configuration: ConfigurationRow | undefined,
  made: Making[],
): Promise<string | undefined> {
  if (configuration && configuration.certificate_id !== null) return issuingDID
  const chosen = await chooseSigner(wallet, 'issuingDID', [issuingDID, configuration?.issuing_did])
  if (chosen !== undefined) return chosen
  const did = await createSigner(wallet, db)
  made.push({ kind: 'did', id: did })
  return did
}
