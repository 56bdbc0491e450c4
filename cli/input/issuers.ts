/** Whose credentials a proof request accepts: the flags, and the check that one of them says it. */
import * as Flags from '@oclif/core/flags'
import type { Input } from '../client/api.ts'
import type { Context, FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { repeatable } from './arguments.ts'

type Body = Input<'POST /present-proof/presentations/openid4vp'>['body']
type Issuers = NonNullable<Body['issuers']>

export const issuerFlags = {
  'trust-issuer': Flags.string({
    ...repeatable,
    exclusive: ['trusted', 'any-issuer'],
    description: 'DID of an issuer whose credentials are accepted; repeat it for several',
  }),
  trusted: Flags.boolean({
    exclusive: ['any-issuer'],
    description: 'accept only issuers that are trust anchors, or have a certificate below one (agent trust)',
  }),
  'any-issuer': Flags.boolean({
    description: 'accept credentials of any issuer: the proof is then valid, but its issuer is not checked',
  }),
}

export type IssuerFlags = Partial<FlagValues<typeof issuerFlags>> & {
  policy?: string | undefined
  definition?: string[] | undefined
}

/** Reads the answer of a person: the DID of an issuer, or `any`. @throws {UsageError} for another text */
export function parseIssuer(text = ''): 'any' | string[] {
  const issuer = text.trim()
  if (issuer === 'any') return 'any'
  if (issuer.startsWith('did:')) return [issuer]
  throw new UsageError('A request needs an issuer: the DID of one that you trust, or any.')
}

/** Whose credentials the flags accept. Undefined: they do not say it. */
export function acceptedBy(flags: IssuerFlags): Issuers | undefined {
  if (flags['any-issuer']) return 'any'
  return flags.trusted ? 'trusted' : flags['trust-issuer']
}

/**
 * Reads whose credentials are accepted. Undefined if the policy, the query or the credential definition says
 * it.
 *
 * @throws {UsageError} if nothing says it
 */
export async function readIssuers(
  { flags, call }: Pick<Context<object, IssuerFlags>, 'flags' | 'call'>,
  query?: Body['dcqlQuery'],
): Promise<Issuers | undefined> {
  const accepted = acceptedBy(flags)
  if (accepted) return accepted
  if (flags.definition || namesAuthorities(query)) return undefined
  if (flags.policy !== undefined && (await namesIssuers(call, flags.policy))) return undefined
  const policy =
    flags.policy === undefined
      ? ''
      : ' The policy has no trusted issuers for one of its schemas, or no schema.'
  throw new UsageError(
    `Whose credentials are accepted?${policy} Name the issuer with --trust-issuer <did>, or accept credentials of everybody with --any-issuer.`,
  )
}

/** Whether each credential of a query must be of a named authority. The daemon validates the query. */
function namesAuthorities(query: Body['dcqlQuery'] | undefined): boolean {
  const asked: unknown = query?.credentials
  if (!Array.isArray(asked) || asked.length === 0) return false
  return (asked as { trusted_authorities?: unknown }[]).every(({ trusted_authorities: named }) => {
    return Array.isArray(named) && named.length > 0
  })
}

async function namesIssuers(call: Context['call'], id: string): Promise<boolean> {
  const { constraints } = await call('GET /verification/policies/{id}', { path: { id } })
  return (
    constraints.length > 0 && constraints.every(({ trustedIssuers }) => (trustedIssuers ?? []).length > 0)
  )
}
