/** What a tenant's key may be used for, where it is not for everything (ours). */
import { Problem } from '../../src/base/problem.ts'
import type { Scope } from '../../src/wallet/model.ts'
import type { Caller } from './access.ts'

/** Refuses a key that has none of the scopes that an endpoint asks for. @throws {Problem} `InsufficientScope` */
export function mustHaveScope(caller: Caller, wanted: readonly Scope[] | undefined, key: string): void {
  if (caller?.kind !== 'tenant' || !caller.scopes || !wanted) return
  const { scopes } = caller
  if (wanted.some((scope) => scopes.includes(scope))) return
  const takes =
    wanted.length === 0
      ? 'one that is for everything'
      : `one with the scope ${wanted.join(' or ')}, or for everything`
  throw new Problem(
    'error:AuthenticationError:InsufficientScope',
    `This key is for ${scopes.join(', ')} only. ${key} takes ${takes}: ask the administrator for such a key.`,
  )
}
