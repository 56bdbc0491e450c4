/** The commands by which an operator handles a service. */
import * as Flags from '@oclif/core/flags'
import type { Running } from '../../src/foundation/running.ts'

export const systemFlag = Flags.boolean({
  description: 'a service of the machine, not of your user; needs root',
})

export type Service = NonNullable<Running['service']>

export function labelOf(name: string): string {
  return `org.identity-agent.${name}`
}

/** Where launchd has a job: the machine, or the session of the user. */
export function domainOf(isSystem: boolean): string {
  return isSystem ? 'system' : `gui/${process.getuid!()}`
}

export function commandsFor({ manager, name, isSystem }: Service): {
  log: string
  restart: string
  state: string
} {
  if (manager === 'launchd') {
    const target = `${domainOf(isSystem)}/${labelOf(name)}`
    return {
      log: 'agent daemon logs --follow',
      restart: `launchctl kickstart -k ${target}`,
      state: `launchctl print ${target}`,
    }
  }
  const user = isSystem ? '' : '--user '
  return {
    log: `journalctl ${user}--unit ${name} --output cat --follow`,
    restart: `systemctl ${user}restart ${name}`,
    state: `systemctl ${user}status ${name}`,
  }
}
