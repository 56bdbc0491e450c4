/**
 * What of the requests goes into the audit log: every refusal, and what changes something about wallets, tenants, keys and DIDs.
 *
 * What is noted of a request are ids alone: of its path, and a few of its body and of what it made.
 */
import type { Middleware } from 'koa'
import type { Agent } from '../../src/agent.ts'
import type { Act } from '../../src/audit/entry.ts'
import { Problem } from '../../src/base/problem.ts'
import { addressOf } from '../http/address.ts'
import { doneTo, subjectOf, walletOf, type Given } from '../http/audit-subject.ts'
import { splitKey, type Route } from '../http/route.ts'
import type { Caller } from './access.ts'
import { stateOf } from './request-log.ts'

/** A request that comes to an endpoint: where from, its id, and, as far as it is known by then, whose it is. */
export type Visit = { address: string; requestId: string; caller?: Caller }

/** Whether what an endpoint does is in the audit log: what the administrator changes, and all operations of DIDs. */
export function isAudited({ key, contract: { access } }: Route): boolean {
  const [method, path] = splitKey(key)
  if (method === 'GET' || access === 'public') return false
  return access !== 'tenant' || path.startsWith('/did-registrar/')
}

/** How one endpoint's requests are audited. */
export function auditOf({ audit }: Agent, route: Route) {
  const { key: action, contract } = route
  const actOf = ({ address, requestId, caller }: Visit): Act => ({
    ...by(caller),
    address,
    requestId,
    action,
  })
  return {
    /** Lets somebody in, or notes the refusal. @throws what `admit` throws */
    async admission<T>(visit: Visit, admit: () => Promise<T>): Promise<T> {
      try {
        return await admit()
      } catch (error) {
        if (error instanceof Problem && [401, 403, 429].includes(error.status))
          await audit.refused(actOf(visit), error)
        throw error
      }
    },

    /**
     * Does what the endpoint does, with an entry where it gets one. `work` says when it begins, with what it was given.
     *
     * @throws what `work` throws, and {Problem} 503 or 507 when it cannot be noted that it begins
     */
    performance<T>(visit: Visit, work: (begin: (given: Given) => Promise<void>) => Promise<T>): Promise<T> {
      if (!isAudited(route)) return work(() => Promise.resolve())
      const about = (subject: Record<string, string>) => ({
        subject,
        ...(visit.caller?.kind !== 'tenant' && walletOf(action, subject)),
      })
      let given: Given = {}
      return audit.during(
        actOf(visit),
        (begin) =>
          work((all) => {
            given = all
            return begin(about(subjectOf(given)))
          }),
        (done) => ({
          ...about(doneTo(given, done)),
          status: (contract.media && (done as { status?: number }).status) ?? contract.reply[0],
        }),
      )
    },
  }
}

/** Notes what was refused before it was known for which endpoint it is: requests of web pages of other sites. */
export function auditForeign({ audit, config }: Agent): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      if (error instanceof Problem && error.type === 'error:LocalAccessOnly') {
        const address = addressOf(ctx.req, config.AGENT_TRUST_PROXY)
        await audit.refused(
          {
            actor: 'anonymous',
            address,
            requestId: stateOf(ctx).requestId,
            action: 'request from another site',
          },
          error,
        )
      }
      throw error
    }
  }
}

function by(caller: Caller): Pick<Act, 'actor' | 'entityId' | 'keyId' | 'walletId'> {
  if (caller?.kind !== 'tenant') return { actor: caller?.kind ?? 'anonymous' }
  const { entityId, keyId, walletId } = caller
  return { actor: 'tenant', entityId, walletId, ...(keyId !== undefined && { keyId }) }
}
