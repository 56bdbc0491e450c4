/** `--lan` of `agent daemon start` and `restart`: the flag, and what it means for the security of the agent. */
import * as Flags from '@oclif/core/flags'
import type { Lan } from '../../src/foundation/net/lan.ts'
import { type Settings, withoutEmpty } from '../../src/foundation/config/settings.ts'
import { optionalValue } from '../argv.ts'
import type { LocalContext } from '../define-command.ts'

export const lanFlag = Flags.string({
  description:
    'answer in the local network, for phones and other machines, and write its address into invitations: `--lan`, or `--lan 192.168.1.10` to choose one; `--lan off` ends it (AGENT_LAN)',
  ...optionalValue('address', /^(?:\d|off$|auto$)/),
})

export const httpsFlag = Flags.boolean({
  description:
    'serve HTTPS, with a certificate for development unless AGENT_TLS_CERT_FILE names another (AGENT_HTTPS)',
  allowNo: true,
})

/** The settings of the flags. A bare `--lan` is empty. */
export function lanSettings({
  lan,
  https,
}: {
  lan?: string | undefined
  https?: boolean | undefined
}): Settings {
  return withoutEmpty({ AGENT_LAN: lan === '' ? 'auto' : lan, AGENT_HTTPS: https?.toString() })
}

/**
 * Says what a start makes public in the local network, before it. `layers` are settings, highest precedence
 * first.
 *
 * @throws {StartError} 2 without such an address
 */
export async function sayLan({ say }: Pick<LocalContext, 'say'>, layers: readonly Settings[]): Promise<void> {
  const notice = await lanNotice(layers)
  for (const sentence of notice) say(sentence)
  if (notice.length > 0) say('')
}

async function lanNotice(layers: readonly Settings[]): Promise<string[]> {
  const valueOf = (name: string) => layers.find((layer) => layer[name] !== undefined)?.[name]
  const wanted = valueOf('AGENT_LAN') ?? 'off'
  if (wanted === 'off') return []
  const { describeAddresses, findLan } = await import('../../src/foundation/net/lan.ts')
  const isHttps = valueOf('AGENT_HTTPS') ?? String(valueOf('AGENT_TLS_CERT_FILE') !== undefined)
  const lan = await findLan(wanted)
  return describe(lan, describeAddresses(lan.others), /^(?:true|1)$/i.test(isHttps))
}

/** The consequences of `--lan` for the security of the agent, one sentence each. */
function describe(lan: Lan, others: string, isHttps: boolean): string[] {
  return [
    `The agent answers at ${lan.address} (${lan.interface}). Everybody in the network ${lan.network} reaches its API with a key, its public pages, and its DIDComm endpoint.`,
    isHttps
      ? 'Phones and other agents trust a development certificate only when you install its authority there (docs/how-to/phones.md).'
      : 'Others in the network can read plain HTTP. Send no API keys from other machines without --https.',
    `Peers and tenants can make the agent call addresses in ${lan.network}, but not in other private networks, and not 127.0.0.1. An agent or a webhook on this machine needs an address in the network, or AGENT_ALLOW_HOSTS=127.0.0.1.`,
    ...(others === '' ? [] : [`Other addresses of this machine: ${others}. Choose one by --lan <address>.`]),
  ]
}
