/** Checks the settings that cannot be combined with AGENT_LAN. */
import { oidcSettingsOf } from './oidc.ts'

type Given = Parameters<typeof oidcSettingsOf>[0] & { AGENT_LAN: string; API_KEY_ENABLED: boolean }
type Wrong = { name: string; reason: string; remedy: string }

/** `given` has the variables that are set. */
export function findWrongLan(config: Given, given: Readonly<Record<string, unknown>>): Wrong[] {
  if (config.AGENT_LAN === 'off') return []
  const wrong: Wrong[] = []
  const named = ['AGENT_HOST', 'REST_SERVICE_URL', 'DIDCOMM_SERVICE_URL'].find((name) => name in given)
  if (named !== undefined)
    wrong.push({
      name: 'AGENT_LAN',
      reason: `is ${config.AGENT_LAN}, and ${named} names an address too`,
      remedy: `Unset ${named}, or turn AGENT_LAN off (--lan off).`,
    })
  if (!config.API_KEY_ENABLED && !oidcSettingsOf(config))
    wrong.push({
      name: 'API_KEY_ENABLED',
      reason: 'is false, and with AGENT_LAN everybody in the network would be the default tenant',
      remedy: 'Unset API_KEY_ENABLED, or turn AGENT_LAN off (--lan off).',
    })
  return wrong
}
