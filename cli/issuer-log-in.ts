/** The flags of an issuer's log-in: an OpenID provider, and the client of the issuer there. */
import * as Flags from '@oclif/core/flags'
import type { FlagValues } from './define-command.ts'
import { repeatable } from './input/arguments.ts'
import { readSeconds } from './input/time.ts'
import type { readAuthorizationServer } from './issuer.ts'

export const logInFlags = {
  'log-in': Flags.string({
    exclusive: ['authorization-server'],
    description:
      'issuer identifier, a URL, of an OpenID provider where people log in before they consent; its client is --client-id with --client-secret-file or --client-key',
  }),
  'client-key': Flags.string({
    exclusive: ['client-secret-file'],
    description: 'issuer certificate whose key signs in place of a client secret, with --log-in',
  }),
  'log-in-scope': Flags.string({
    description: 'what is asked for, such as "openid profile"; default: openid',
  }),
  'log-in-acr': Flags.string({ ...repeatable, description: 'accepted acr of the log-in; default: any' }),
  'log-in-max-age': Flags.string({ description: 'age of a log-in after which it is repeated, such as 10m' }),
  'log-in-claims': Flags.option({
    options: ['id_token', 'userinfo'] as const,
    description: 'where the claims of the person come from; default: id_token',
  })(),
}

type LogInFlags = FlagValues<typeof logInFlags>

/** Whether `--client-id` and the secret are of the log-in, and not of an external authorization server. */
export function hasLogIn(flags: LogInFlags): boolean {
  return Object.keys(logInFlags).some((name) => flags[name as keyof LogInFlags] !== undefined)
}

/** Reads the members that are given. `client` has those of the flags that both kinds of providers share. */
export function readLogIn(
  flags: LogInFlags,
  { clientId, clientSecret }: Omit<ReturnType<typeof readAuthorizationServer>, 'url'>,
) {
  const maxAge = flags['log-in-max-age']
  return {
    issuer: flags['log-in'],
    clientId,
    clientSecret,
    keyId: flags['client-key'],
    scope: flags['log-in-scope'],
    acrValues: flags['log-in-acr'],
    maxAge: maxAge === undefined ? undefined : readSeconds('log-in-max-age', maxAge),
    claimsFrom: flags['log-in-claims'],
  }
}
