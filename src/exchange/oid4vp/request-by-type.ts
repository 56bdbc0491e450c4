/**
 * A presentation request in one step: for a type that the wallet issues or holds, signed by a DID of the
 * wallet, which is made if it is missing.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { ClaimsPath } from '../../credentials/dcql/query.ts'
import { queryOf, subjectPath } from '../../credentials/dcql/query-of.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { createSigner, listSigners } from '../../wallet/did-registrar/signers.ts'
import type { AcceptedIssuers } from '../../wallet/verification/trust.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { chooseSigner } from '../oid4vci/choices.ts'
import { inTurn, undo } from '../oid4vci/making.ts'
import { type PresentationRecord, PresentationStatus } from '../presentation/model.ts'
import { chooseType, type KnownType, listKnownTypes } from './known-types.ts'
import { RequestByOpenId4Vp, requestByOpenId4Vp, RequestFields } from './requests.ts'

export const RequestByType = RequestFields.omit({ dcqlQuery: true, clientIdPrefix: true })
  .extend({
    type: z
      .string()
      .trim()
      .min(1)
      .max(2_000)
      .describe('The name, the `vct` or the configuration of a type that this wallet issues or holds.'),
    claims: z
      .array(ClaimsPath)
      .min(1)
      .max(100)
      .optional()
      .describe(
        'The paths of the requested claims of the subject. Default: the mandatory claims of the type, which each of its credentials has, or all if none is mandatory.',
      ),
    did: RequestFields.shape.did.describe(
      'The DID of this wallet that signs the request. Default: that which issues the type, or the only one, or a new one.',
    ),
    issuers: RequestFields.shape.issuers.describe(
      'Whose credentials are accepted. Default for a type that this wallet issues: its own DID.',
    ),
  })
  .meta({ id: 'OpenId4VpRequestByType', examples: [{ type: 'Person', claims: [['name']] }] })
export type RequestByType = z.output<typeof RequestByType>

export const RequestedByType = PresentationStatus.extend({
  chosen: z
    .object({
      type: z.string().describe('The name of the type.'),
      types: z.array(z.string()),
      issuers: z.array(z.string()).optional().describe('The own issuers that are trusted by default.'),
      did: z.string().optional().describe('The DID that signs the request.'),
      madeDid: z.boolean().describe('Whether the DID was missing and has been made.'),
    })
    .describe('What the request left to the agent.'),
}).meta({ id: 'PresentationRequestedByType' })
export type Chosen = z.infer<typeof RequestedByType>['chosen']

type Context = { db: AgentDb; wallet: Wallet }

/** @throws {Problem} 400 for an unknown type or claim, and if it is not clear who is trusted or who signs */
export function requestByType(
  { db, wallet }: Context,
  body: RequestByType,
  key?: string,
): Promise<{ record: PresentationRecord; chosen: Chosen }> {
  return inTurn(wallet.id, async () => {
    const { type: name, claims, ...fields } = body
    const type = chooseType(await listKnownTypes(db, wallet), name)
    const paths = pathsOf(type, claims)
    const own = body.issuers === undefined ? await trustedOf(wallet, type, body) : undefined
    const signer = await signerOf({ db, wallet }, type, body)
    const requested = RequestByOpenId4Vp.safeParse({
      ...fields,
      dcqlQuery: queryOf({ format: type.format, types: type.types, isBound: true }, paths),
      issuers: body.issuers ?? own,
      did: signer.did,
    })
    if (!requested.success) {
      const { path, message } = requested.error.issues[0]!
      throw new Problem('BadRequest', `${path.join('.')}: ${message}.`)
    }
    const record = await requestByOpenId4Vp(wallet, requested.data, { key }).catch(async (error: unknown) => {
      const made = signer.madeDid ? [{ kind: 'did' as const, id: signer.did! }] : []
      throw await undo(made, error)
    })
    return {
      record,
      chosen: { type: type.name, types: type.types, ...(Array.isArray(own) && { issuers: own }), ...signer },
    }
  })
}

/** @throws {Problem} 400 for a claim that the type does not have */
function pathsOf({ name, format, claims }: KnownType, wanted: RequestByType['claims']): ClaimsPath[] {
  const isNamed = ([first, second]: ClaimsPath, { name: own, namespace }: KnownType['claims'][number]) =>
    first === own || (namespace !== undefined && first === namespace && second === own)
  const unknown = wanted?.find((path) => claims.length > 0 && !claims.some((each) => isNamed(path, each)))
  if (unknown)
    throw new Problem(
      'BadRequest',
      `claims: ${name} has no claim ${String(unknown[0]).slice(0, 100)}. It has ${claims.map((each) => each.name).join(', ')}.`,
    )
  // An element of a document follows its namespace, which people leave out.
  const withNamespace = (path: ClaimsPath): ClaimsPath => {
    const { namespace } = claims.find((each) => each.name === path[0]) ?? {}
    return namespace === undefined ? path : [namespace, ...path]
  }
  const mandatory = claims.filter((each) => each.mandatory)
  const paths = wanted ?? (mandatory.length > 0 ? mandatory : claims).map((each) => [each.name])
  return paths.map((path) => subjectPath(format, withNamespace(path)))
}

/**
 * The DID of this wallet that issues the type, or the trust anchors if a certificate does. Undefined if a
 * policy can say whose credentials are accepted.
 *
 * @throws {Problem} 400 for a type of others, and without a DID of its own
 */
async function trustedOf(
  { db }: Wallet,
  { name, issuedBy, heldFrom }: KnownType,
  { policyId }: RequestByType,
): Promise<AcceptedIssuers | undefined> {
  if (policyId !== undefined) return undefined
  if (issuedBy?.issuerCertificateId !== undefined) return 'trusted'
  if (issuedBy?.issuingDID !== undefined) return [issuedBy.issuingDID]
  if (issuedBy) {
    const signers = await listSigners(db, 'assertionMethod')
    if (signers.length === 1) return signers
  }
  const example = heldFrom ?? '<did>'
  const reason = issuedBy
    ? 'its configuration names no DID of this wallet'
    : `this wallet does not issue it; that which it holds is of ${example}`
  throw new Problem(
    'BadRequest',
    `issuers: say whose credentials of the type ${name} are accepted, because ${reason}. On the command line: --trust-issuer ${example}, --trusted, or --any-issuer for those of everybody.`,
  )
}

/** Who signs the request. None for one that a certificate signs. */
async function signerOf(
  { db, wallet }: Context,
  { issuedBy }: KnownType,
  { did, certificateId, responseMode }: RequestByType,
): Promise<{ did?: string; madeDid: boolean }> {
  if (certificateId !== undefined && (did === undefined || !responseMode?.startsWith('dc_api')))
    return { ...(did !== undefined && { did }), madeDid: false }
  const signers = await listSigners(wallet.db, 'authentication')
  const issuing = signers.find((each) => each === issuedBy?.issuingDID)
  const chosen = await chooseSigner(wallet, 'did', [did, issuing])
  if (chosen !== undefined) return { did: chosen, madeDid: false }
  return { did: await createSigner(wallet, db), madeDid: true }
}
