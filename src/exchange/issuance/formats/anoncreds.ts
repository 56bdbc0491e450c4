/**
 * Issuing AnonCreds credentials: the key of a credential definition signs them, and they are bound to the
 * holder's link secret.
 */
import * as z from 'zod'
import { AnonCredsError, assertEnabled } from '../../../credentials/anoncreds/engine.ts'
import { claimsOf, decodeCredential } from '../../../credentials/anoncreds/decode.ts'
import { getOwnDefinition, getPrivateKey } from '../../../credentials/anoncreds/issuer.ts'
import { getLinkSecret } from '../../../credentials/anoncreds/holder.ts'
import {
  Credential,
  CredentialOffer,
  CredentialRequest,
  encodeValue,
  RequestMetadata,
  type CredentialDefinition,
} from '../../../credentials/anoncreds/model.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { findDifference } from '../../../credentials/formats/difference.ts'
import { attributeKey, linkSecretName } from '../../../credentials/schemas/anoncreds-schema.ts'
import { checkClaims } from '../../../credentials/schemas/claims.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { encodedAttachments, isTokensFault, readJson, anonCredsFormats } from '../../protocols/attachments.ts'
import type { IssuanceFormat } from '../format.ts'
import type { CredentialRecord } from '../model.ts'
import type { OfferTerms } from '../offers.ts'
import { findIssuerMismatch, invalidIssue, invalidRequest } from '../refusals.ts'

export const anonCreds: IssuanceFormat = {
  async offer(wallet, offered) {
    const { credentialDefinitionId, claims } = offered
    const { definition, credDefId, keyCorrectnessProof } = await getOwn(wallet, credentialDefinitionId)
    checkSchema(offered, definition)
    const { schemaId, issuerId } = definition
    await checkClaims(claims, await wallet.env.getSchema(schemaId))
    const offer = await wallet.env.anoncreds.createOffer({ schemaId, credDefId, keyCorrectnessProof })
    const { domain: _unused, ...terms } = offered
    return {
      terms: { ...terms, issuingDID: issuerId, schemaIds: [schemaId], anoncreds: { offer } },
      attachments: encodedAttachments(offer, anonCredsFormats.offer),
    }
  },

  readOffer(content, claims) {
    const offer = CredentialOffer.parse(content)
    const names = Object.keys(claims)
    if (names.length === 0) throw new TypeError('it has no attributes')
    const other = names.find((name) => typeof claims[name] !== 'string')
    if (other !== undefined)
      throw new TypeError(`the attribute ${other} is not a string, as AnonCreds requires`)
    // The schemas of the preview are not signed.
    return { schemaIds: [offer.schema_id], anoncreds: { offer } }
  },

  async request(wallet, record, { subjectId, keyId, trustedIssuers }) {
    assertEnabled(wallet.env.config)
    for (const [name, value] of Object.entries({ subjectId, keyId }))
      if (value !== undefined)
        throw new Problem(
          'BadRequest',
          `${name}: an AnonCreds credential is about no DID. Accept the offer without it, with an empty object.`,
        )
    const { offer } = offerOf(record)
    const definition = await wallet.env.getCredentialDefinition(offer.cred_def_id)
    checkOffer(record, definition)
    checkIssuer(wallet, offer.cred_def_id, definition, trustedIssuers)
    const linkSecret = await getLinkSecret(wallet)
    const { request, metadata } = await withProblem(
      () => wallet.env.anoncreds.createRequest({ definition, linkSecret, offer }),
      (reason) => unacceptable(`it does not go with the definition ${offer.cred_def_id}, ${reason}`),
    )
    const sealed = wallet.seal(contextOf(record), JSON.stringify(metadata))
    return {
      body: { goal_code: 'Request Credential' },
      attachments: encodedAttachments(request, anonCredsFormats.request),
      change: { anoncreds: { offer, request, metadata: sealed } },
    }
  },

  choose: ({ trustedIssuers }) => ({ trustedIssuers }),

  async readRequest(_wallet, record, message) {
    const { offer } = offerOf(record)
    try {
      const request = CredentialRequest.parse(readJson(message))
      if (request.cred_def_id !== offer.cred_def_id)
        throw new TypeError('it is for another definition than the one of the offer')
      return { anoncreds: { offer, request } }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      throw invalidRequest(`cannot be used: ${reasonOf(error)}`, error)
    }
  },

  async issue(wallet, record) {
    const { offer, request } = offerOf(record)
    if (!request) throw new Error(`the record ${record.id} has no request`)
    const { guid, definition } = await getOwn(wallet, record.credentialDefinitionId)
    const privateKey = await getPrivateKey(wallet, guid)
    const values = record.claims as Record<string, string>
    const credential = await withProblem(
      () => wallet.env.anoncreds.createCredential({ definition, privateKey, offer, request, values }),
      (reason, cause) => invalidRequest(`does not hold: ${reason}`, cause),
    )
    return {
      credential: JSON.stringify(credential),
      body: { goal_code: 'Issue Credential' },
      attachments: encodedAttachments(credential, anonCredsFormats.credential),
    }
  },

  /** Checks definition, schema and claims against the offer, and the signature for this wallet's link secret. */
  async verify(wallet, record, message) {
    const { offer, request, metadata: sealed } = offerOf(record)
    try {
      const credential = Credential.parse(readJson(message))
      if (sealed === undefined) throw new TypeError('it was not asked for')
      const mismatch = compare(record, credential)
      if (mismatch !== undefined) return { mismatch }
      checkNumbers(credential)
      const definition = await wallet.env.getCredentialDefinition(offer.cred_def_id)
      const metadata = RequestMetadata.parse(JSON.parse(wallet.unseal(contextOf(record), sealed)))
      const linkSecret = await getLinkSecret(wallet)
      const processed = await wallet.env.anoncreds.processCredential({
        credential,
        metadata,
        linkSecret,
        definition,
      })
      return {
        credential: JSON.stringify(processed),
        issuer: definition.issuerId,
        change: { anoncreds: { offer, request } },
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      throw invalidIssue(reasonOf(error), error)
    }
  },

  read: decodeCredential,
}

/**
 * A definition of this wallet with its private key.
 *
 * @throws {Problem} 404; 503 while the key is being generated
 */
function getOwn(wallet: Wallet, guid: string | undefined) {
  assertEnabled(wallet.env.config)
  if (guid === undefined) throw new Error('the offer has no definition')
  return getOwnDefinition(wallet, guid)
}

/** A given schema must be that of the definition. @throws {Problem} */
function checkSchema({ schemaIds }: OfferTerms, { schemaId }: CredentialDefinition): void {
  const other = schemaIds.find((id) => id !== schemaId)
  if (other !== undefined)
    throw new Problem('BadRequest', `schemaId: the definition is for the schema ${schemaId}. Leave it out.`)
}

/** Checks that an offer has the schema and the attributes of its definition. @throws {Problem} */
function checkOffer(record: CredentialRecord, { schemaId, value }: CredentialDefinition): void {
  const { offer } = offerOf(record)
  if (schemaId !== offer.schema_id)
    throw unacceptable(`its definition is for the schema ${schemaId}, not for ${offer.schema_id}`)
  const signed = Object.keys(value.primary.r).filter((name) => name !== linkSecretName)
  const offered = Object.keys(record.claims).map(attributeKey)
  const missing = signed.find((name) => !offered.includes(name))
  if (missing !== undefined) throw unacceptable(`it lacks the attribute ${missing} of its definition`)
  const surplus = offered.find((name) => !signed.includes(name))
  if (surplus !== undefined || offered.length > signed.length)
    throw unacceptable(`its definition has no attribute ${surplus ?? 'twice'}`)
}

/**
 * Checks that the definition's issuer is accepted, and that the definition is published under the issuer's
 * control.
 *
 * @throws {Problem}
 */
function checkIssuer(
  { env }: Wallet,
  url: string,
  { issuerId }: CredentialDefinition,
  trustedIssuers: readonly string[] | undefined,
): void {
  const mismatch = findIssuerMismatch(trustedIssuers, issuerId)
  if (mismatch !== undefined) throw unacceptable(mismatch)
  if (trustedIssuers && !env.isIssuerAuthentic(url))
    throw unacceptable(
      `its definition at ${url} does not prove its issuer, and only some issuers are accepted`,
    )
}

function compare(record: CredentialRecord, { schema_id, cred_def_id, values }: Credential) {
  const { offer } = offerOf(record)
  if (cred_def_id !== offer.cred_def_id)
    return `it is of the definition ${cred_def_id}, not of the one that was offered`
  const offered = { claims: record.claims, schemas: [offer.schema_id] }
  return findDifference(offered, { claims: claimsOf(values), schemas: [schema_id] })
}

/** Checks that the signed numbers encode the attributes' texts. @throws {TypeError} */
function checkNumbers({ values }: Credential): void {
  const [name] = Object.entries(values).find(([, { raw, encoded }]) => encodeValue(raw) !== encoded) ?? []
  if (name !== undefined)
    throw new TypeError(`the signed value of its attribute ${name} does not encode its text`)
}

function offerOf({ id, anoncreds }: CredentialRecord): NonNullable<CredentialRecord['anoncreds']> {
  if (!anoncreds) throw new Error(`the record ${id} has no AnonCreds offer`)
  return anoncreds
}

function contextOf({ id }: CredentialRecord): string {
  return `anoncreds-request:${id}`
}

/** Runs a function of the AnonCreds library. Its refusal becomes a problem. */
async function withProblem<Result>(
  calculate: () => Promise<Result>,
  toProblem: (reason: string, cause: unknown) => Problem,
): Promise<Result> {
  try {
    return await calculate()
  } catch (error) {
    if (error instanceof AnonCredsError) throw toProblem(error.message, error)
    throw error
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof AnonCredsError || error instanceof z.ZodError || isTokensFault(error)
}

function unacceptable(reason: string): Problem {
  const type = 'error:CredentialServiceError:InvalidCredentialOffer'
  return new Problem(type, `The offer cannot be accepted: ${reason}.`)
}
