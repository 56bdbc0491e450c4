/**
 * The result of a verification in the record of a verifier: the checks, the credentials, and whether anything
 * restricts their issuers.
 */
import * as z from 'zod'
import type { PresentationRequest } from '../../credentials/anoncreds/presentation.ts'
import type { Failure } from '../../credentials/codecs/verification-error.ts'
import type { DcqlQuery } from '../../credentials/dcql/query.ts'
import { openIdTraits } from '../../definitions/format-names.ts'
import type { PolicyConstraint } from '../../wallet/verification/policies.ts'
import type { PresentationRecord } from './model.ts'
import {
  type CheckName,
  PresentationCheck,
  PresentedCredential,
} from '../../credentials/formats/presented.ts'
import type { AcceptedIssuers } from '../../wallet/verification/trust.ts'

export const Verification = z
  .object({
    issuersChecked: z
      .boolean()
      .describe(
        'Whether the issuers of the credentials are checked. False: the request accepts credentials of any issuer, so a valid presentation proves nothing about who issued them.',
      ),
    checks: z.array(PresentationCheck).optional().describe('The checks of the presentation.'),
    credentials: z
      .array(PresentedCredential)
      .optional()
      .describe('The presented credentials: holder, claims and issuer of each, if all checks passed.'),
  })
  .meta({ id: 'PresentationVerification' })
export type Verification = z.infer<typeof Verification>

/** The verification of a verifier's record, before and after the presentation. */
export function toVerification(record: PresentationRecord): Verification {
  const { checks, credentials } = record.openid4vp ?? record.dcql ?? record.verification ?? {}
  const issuersChecked = checksIssuers(record, credentials ?? [])
  // A check without anything to compare with has passed for every credential.
  const isEmpty = ({ name, result }: PresentationCheck) =>
    result === 'passed' &&
    ((name === 'trust' && !issuersChecked) || (name === 'policy' && !record.policy?.constraints.length))
  return { issuersChecked, checks: checks?.filter((check) => !isEmpty(check)), credentials }
}

/** The parts of a request that can restrict issuers. */
type Asked = {
  issuers?: AcceptedIssuers | undefined
  policy?: { constraints: readonly PolicyConstraint[] } | undefined
  query?: DcqlQuery | undefined
  proofs?: PresentationRecord['proofs']
  anoncreds?: PresentationRequest | undefined
}

/** Whether a request accepts only credentials of some issuers. */
export function restrictsIssuers({ issuers = 'any', policy, query, proofs = [], anoncreds }: Asked): boolean {
  if (issuers !== 'any') return true
  const constraints = policy?.constraints ?? []
  return (
    isEvery(constraints, ({ trustedIssuers }) => trustedIssuers.length > 0) ||
    isEvery(query?.credentials ?? [], ({ trusted_authorities: named = [] }) => named.length > 0) ||
    isEvery(proofs, ({ trustIssuers = [] }) => trustIssuers.length > 0) ||
    (anoncreds !== undefined && restrictsDefinitions(anoncreds))
  )
}

/**
 * Members of a restriction that only credentials of one issuer satisfy: a definition has the keys of its
 * issuer.
 */
const ofOneIssuer = ['issuer_did', 'issuer_id', 'cred_def_id']

function restrictsDefinitions(request: PresentationRequest): boolean {
  const items = [
    ...Object.values(request.requested_attributes),
    ...Object.values(request.requested_predicates),
  ]
  return isEvery(items, ({ restrictions }) =>
    isEvery(restrictions, (each) => ofOneIssuer.some((member) => Object.hasOwn(each, member))),
  )
}

/** Certificates always end at a trust anchor, so that credentials with a certificate have a checked issuer. */
function checksIssuers(record: PresentationRecord, presented: readonly PresentedCredential[]): boolean {
  const { issuers, policy, proofs, anoncreds, openid4vp, dcql } = record
  const query = openid4vp?.dcqlQuery ?? dcql?.query
  if (restrictsIssuers({ issuers: openid4vp?.issuers ?? issuers, policy, query, proofs, anoncreds }))
    return true
  return isEvery(
    presented,
    ({ format, issuer }) => openIdTraits(format)?.hasCertificates === true && !issuer.startsWith('did:'),
  )
}

/** True if there is at least one, and all satisfy the condition. */
function isEvery<Item>(items: readonly Item[], satisfies: (item: Item) => boolean): boolean {
  return items.length > 0 && items.every(satisfies)
}

/** Checks that have passed. Those that a request does not need are false. */
export function passed(checks: readonly (CheckName | false)[]): PresentationCheck[] {
  return checks.flatMap((name) => (name === false ? [] : [{ name, result: 'passed' as const }]))
}

/** The failure of a record whose presentation is not valid. */
export function toFailure(detail: string) {
  return {
    status: 400,
    type: 'error:PresentationError:PresentationVerificationError',
    title: 'Presentation Verification Error',
    detail,
  }
}

/** A refusal in the words of its verifier, as the prover reads it: there, this wallet is the verifier. */
export function toldProver(refusal: string): string {
  return refusal.replaceAll('this wallet', 'the verifier').replaceAll(': agent trust add', '')
}

/** The check that a failure belongs to. */
// prettier-ignore
export const checkOf: Readonly<Record<Failure, CheckName>> = {
  'malformed':           'form',
  'too-large':           'form',
  'critical-header':     'form',
  'algorithm':           'signature',
  'signature':           'signature',
  'digests':             'digests',
  'kid-not-bound':       'signature',
  'no-key':              'signature',
  'issuer-unresolvable': 'signature',
  'holder-unresolvable': 'holder-binding',
  'issuer-mismatch':     'form',
  'subject-mismatch':    'form',
  'expired':             'validity',
  'not-yet-valid':       'validity',
  'audience':            'audience',
  'nonce':               'nonce',
  'credential-count':    'answer',
  'holder-binding':      'holder-binding',
  'claim-missing':       'query',
  'credential-missing':  'answer',
  'schema-not-accepted': 'query',
  'issuer-not-trusted':  'trust',
  'status':              'status',
}
