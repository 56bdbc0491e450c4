/**
 * Requests of OpenID4VP for DID requests and challenges, so that wallets of that protocol can answer them. A
 * request is a presentation record, whose response ends the session (`openid4vp-answer.ts`).
 */
import { firstFault } from '../../foundation/faults.ts'
import { Problem } from '../../foundation/problem.ts'
import { type DcqlQuery, findUnheld } from '../../credentials/dcql/query.ts'
import { queryOf } from '../../credentials/dcql/query-of.ts'
import {
  formatOfId,
  type OpenIdFormat,
  openIdFormats,
  openIdTraits,
  traitsOf,
  isTyped,
} from '../../definitions/format-names.ts'
import { vctOf } from '../oid4vci/credential-types.ts'
import { RequestByOpenId4Vp, requestByOpenId4Vp, type RequestingSession } from '../oid4vp/requests.ts'
import { storeAnswer } from '../oid4vp/session.ts'
import { findRecord } from '../engine/find.ts'
import { advance } from '../engine/record.ts'
import { presentProof } from '../presentation/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { type OpenId4VpOptions, SessionOpenId4Vp } from './openid4vp-model.ts'

/** The session of a request: `store` writes it in the transaction that stores the request. */
type Session = {
  id: string
  lifetimeSeconds: number
  store: (tx: Tx, openid4vp: SessionOpenId4Vp) => Promise<unknown>
}

/**
 * Makes a request together with its session.
 *
 * @throws {Problem} 400 with the member; as `requestByOpenId4Vp`
 */
export async function requestForSession(
  wallet: Wallet,
  options: Partial<OpenId4VpOptions>,
  { id, lifetimeSeconds, store }: Session,
): Promise<void> {
  const query = options.dcqlQuery ?? (await defaultQuery(wallet))
  const unheld = findUnheld(query)
  if (unheld) throw badRequest(`openid4vp.dcqlQuery.${unheld.path.join('.')}: ${unheld.message}`)
  const { issuers = 'known', sameHolder = true } = options
  const asked = { ...options, dcqlQuery: query, issuers, sameHolder }
  const parsed = RequestByOpenId4Vp.safeParse(asked)
  if (!parsed.success) throw badRequest(firstFault(parsed.error, 'openid4vp'))
  const request = { ...parsed.data, expiresIn: lifetimeSeconds }
  const session: RequestingSession = {
    id,
    store(tx, { id: presentationId, openid4vp }) {
      const { authorizationRequest, clientId } = openid4vp!
      return store(tx, { presentationId, authorizationRequest, clientId })
    },
  }
  await requestByOpenId4Vp(wallet, request, { session })
}

/** The newest types of a query, so that a request by value remains short. */
const maxTypes = 10

/**
 * Credentials of the types that the wallet issues. The claims of an SD-JWT stay with the holder: its key is
 * enough.
 */
async function defaultQuery({ id, env }: Wallet): Promise<DcqlQuery> {
  const configurations = await env.db
    .selectFrom('credential_configuration')
    .select(['issuer_id', 'id', 'vct', 'format', 'settings'])
    .where('wallet_id', '=', id)
    .where('format', 'in', openIdFormats.filter(isTyped))
    .orderBy('created_at', 'desc')
    .limit(maxTypes)
    .execute()
  // Preferred are those whose claims the holder can withhold. A document proves no DID of its holder.
  const preferred = openIdFormats
    .filter((format) => openIdTraits(format).anyType !== '')
    .toSorted((one, other) => Number(isSelective(other)) - Number(isSelective(one)))
  const credentials = preferred.flatMap((format) => {
    const own = configurations.filter((row) => row.format === format)
    const types = [openIdTraits(format).anyType, ...own.map((row) => vctOf(env.urls.rest, row))]
    return queryOf({ format, types: [...new Set(types)], isBound: true }, [], idOf(format)).credentials
  })
  return { credentials, credential_sets: [{ options: credentials.map(({ id: each }) => [each]) }] }
}

const isSelective = (id: OpenIdFormat) => traitsOf(formatOfId(id)).isSelective

/** The id of the credential query, such as `sd_jwt`. */
function idOf(id: OpenIdFormat): string {
  return traitsOf(formatOfId(id)).title.toLowerCase().replaceAll('-', '_')
}

/** Ends the request of a session that was answered in another way, or removed. */
export async function withdrawRequest(
  tx: Tx,
  wallet: Wallet,
  session: { openid4vp: string | null },
  detail: string,
): Promise<void> {
  if (session.openid4vp === null) return
  const { presentationId } = readSessionOpenId4Vp(session.openid4vp)
  const record = await findRecord(tx, presentProof, presentationId)
  if (record?.state !== 'RequestCreated') return
  const metaLastFailure = { status: 410, type: 'SessionClosed', title: 'Session closed', detail }
  await advance(tx, presentProof, record, 'expired', { metaLastFailure })
  await storeAnswer(tx, wallet, presentationId, undefined)
}

export function readSessionOpenId4Vp(json: string): SessionOpenId4Vp {
  return SessionOpenId4Vp.parse(JSON.parse(json))
}

function badRequest(reason: string): Problem {
  return new Problem('/errors/common/bad-request', `${reason}.`)
}
