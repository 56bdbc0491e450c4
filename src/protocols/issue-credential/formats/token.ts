/** Issuing JWTs and SD-JWTs: the issuer's DID signs them, and the holder proves control of the subject's DID with a token of its own. */
import { randomId } from '../../../base/id.ts'
import { Problem } from '../../../base/problem.ts'
import { reasonOf } from '../../../base/reason.ts'
import { assignStatus, type StatusAssignment } from '../../../credential-status/assign.ts'
import type { ListMedia } from '../../../credential-status/lists.ts'
import type { CredentialStatus } from '../../../credentials/jwt-vc.ts'
import { decodeJws } from '../../../credentials/jws.ts'
import { createJwtVp } from '../../../credentials/jwt-vp.ts'
import type { verifyJwtVc } from '../../../credentials/jwt-vc.ts'
import { getManagedDid, isRegistrarDid } from '../../../did-registrar/dids.ts'
import { getSigningKey } from '../../../did-registrar/keys.ts'
import { canonicalDid, type VerificationKey } from '../../../did/document.ts'
import { managedMethods, namesOf } from '../../../did/names.ts'
import { checkClaims } from '../../../schemas/claims.ts'
import { createChainVerifier } from '../../../trust-anchors/verify-chain.ts'
import { verifyHolderProof } from '../../../presentation/jwt.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import {
  challengeAttachment,
  isTokensFault,
  readChallenge,
  readToken,
  tokenAttachments,
  type TokenFormat,
} from '../../formats.ts'
import type { CredentialChange, IssuanceFormat } from '../format.ts'
import type { CredentialRecord } from '../model.ts'
import type { OfferTerms } from '../offers.ts'
import { invalidIssue, invalidRequest } from '../refusals.ts'
import { getSigner, type Signer } from './signer.ts'

/** The issuer, the subject and the status of a credential to sign. `now` is in epoch seconds. */
export type Signing = Omit<Signer, 'listOwner'> & {
  subjectDid: string
  credentialStatus: CredentialStatus
  /** The same status for an SD-JWT VC. */
  tokenStatus: StatusAssignment['tokenStatus']
  now: number
}

/** A verified credential. */
type Verified = { issuerDid: string; subjectDid?: string; mismatch: string | undefined }

/** The options of the verification. */
type Checks = Parameters<typeof verifyJwtVc>[1]

/** The functions that differ between the token formats. */
export type Token = Pick<IssuanceFormat, 'read'> & {
  format: TokenFormat
  /** The curve of the signing key. Default: any. */
  curve?: 'Ed25519'
  /** The form of its status list. Default: StatusList2021 as JSON. */
  statusForm?: ListMedia
  /** @throws {Problem} 400 naming the invalid member */
  checkTerms?(offered: OfferTerms): void
  /** The key to bind the credential to. `kid` is that of the holder's proof. */
  boundTo?(key: VerificationKey, kid: string | undefined): CredentialChange
  /** Signs the record's credential. Returns the compact form. */
  sign(wallet: Wallet, record: CredentialRecord, signing: Signing): string | Promise<string>
  /** `mismatch` says why the credential differs from its offer. @throws {VerificationError | TypeError} */
  verify(wallet: Wallet, record: CredentialRecord, token: string, checks: Checks): Promise<Verified>
}

export function tokenFormat(token: Token): IssuanceFormat {
  const { format, curve, read } = token

  return {
    async offer(wallet, { domain: wanted, ...offered }) {
      token.checkTerms?.(offered)
      await getSigner(wallet, offered, curve)
      for (const url of offered.schemaIds) await checkClaims(offered.claims, await wallet.env.getSchema(url))
      const options = {
        challenge: randomId(),
        domain: wanted ?? wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN,
      }
      return {
        terms: { ...offered, ...options },
        attachments: challengeAttachment(options, format).attachments,
      }
    },

    readOffer: (content) => readChallenge(content),

    async request(wallet, record, { subjectId, keyId }) {
      if (subjectId === undefined)
        throw new Problem(
          'BadRequest',
          `subjectId: is missing. A ${format} credential needs a subject; name a DID of this wallet.`,
        )
      checkMethod(subjectId)
      const { longForm } = await getManagedDid(wallet.db, subjectId)
      const { privateJwk, keyId: kid } = await getSigningKey(wallet, subjectId, 'authentication', keyId)
      const proof = createJwtVp({
        holderDid: longForm,
        holderKey: privateJwk,
        // The issuer binds an SD-JWT to a key that is named here.
        ...(keyId !== undefined && { kid }),
        ...optionsOf(record),
        credentials: [],
      })
      return { attachments: tokenAttachments(proof, format), change: { subjectId, keyId } }
    },

    choose: (acceptance) => acceptance,

    /** The DID that the holder proves to control. */
    async readRequest(wallet, record, message) {
      const { audience, nonce } = optionsOf(record)
      if (audience === undefined) throw new Error(`the record ${record.id} has no domain`)
      try {
        const proof = readToken(message)
        const { holderDid, key } = await verifyHolderProof(proof, {
          audience,
          nonce,
          leewaySeconds: wallet.env.config.PRESENTATION_LEEWAY,
          options: { resolve: wallet.env.resolver.document, now: Math.floor(Date.now() / 1_000) },
        })
        return { holderDid, ...token.boundTo?.(key, decodeJws(proof).header.kid) }
      } catch (error) {
        if (!isTokensFault(error)) throw error
        throw invalidRequest(`does not prove its subject: ${reasonOf(error)}`, error)
      }
    },

    checkIssuer: (wallet, record) => getSigner(wallet, record, curve),

    async issue(wallet, record) {
      const { holderDid } = record
      if (holderDid === undefined) throw new Error(`the record ${record.id} has no holder`)
      const { listOwner, ...signer } = await getSigner(wallet, record, curve)
      const assignment = await assignStatus(wallet, listOwner, token.statusForm ?? 'application/json')
      const credential = await token.sign(wallet, record, {
        ...signer,
        subjectDid: holderDid,
        credentialStatus: assignment.status,
        tokenStatus: assignment.tokenStatus,
        now: issuanceTime(record),
      })
      return {
        credential,
        attachments: tokenAttachments(credential, format),
        store: (tx) => assignment.store(tx, record.id),
      }
    },

    /** Checks signature, dates and subject, and compares the claims with the offer. The attachment's format label is ignored. */
    async verify(wallet, record, message) {
      const checks = {
        resolve: wallet.env.resolver.document,
        verifyChain: createChainVerifier(wallet),
        now: Math.floor(Date.now() / 1_000),
        leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
        // Revocation matters when the credential is presented, not when it is received.
        verifyStatus: false,
      }
      const { subjectId } = record
      try {
        const credential = readToken(message)
        const {
          issuerDid: issuer,
          subjectDid: subject,
          mismatch,
        } = await token.verify(wallet, record, credential, checks)
        if (
          subjectId === undefined ||
          subject === undefined ||
          canonicalDid(subject) !== canonicalDid(subjectId)
        ) {
          throw new TypeError('its subject is not the DID that the offer was accepted with')
        }
        return mismatch === undefined ? { credential, issuer, subject } : { mismatch }
      } catch (error) {
        if (!isTokensFault(error)) throw error
        throw invalidIssue(reasonOf(error), error)
      }
    },

    read,
  }
}

/**
 * The time of issuance in epoch seconds. That of OpenID4VCI is rounded down to the hour, so that verifiers cannot
 * link the credentials of a batch by it (VCI §15.4.1), unless the credential is valid for less than a day.
 */
function issuanceTime({ openid4vci, validityPeriod = Infinity }: CredentialRecord): number {
  const now = Math.floor(Date.now() / 1_000)
  return openid4vci && validityPeriod >= 86_400 ? now - (now % 3_600) : now
}

function optionsOf({ id, domain: audience, challenge: nonce }: CredentialRecord): {
  audience: string | undefined
  nonce: string
} {
  if (nonce === undefined) throw new Error(`the record ${id} has no challenge`)
  return { audience, nonce }
}

/** @throws {Problem} 422 for a DID method that wallets do not have */
function checkMethod(did: string): void {
  if (isRegistrarDid(did) || !did.startsWith('did:')) return
  const detail = `subjectId: ${did.slice(0, 100)} cannot be the subject; it must be a ${namesOf(managedMethods)} of this wallet.`
  throw new Problem('error:CredentialServiceError:UnsupportedDidFormat', detail)
}
