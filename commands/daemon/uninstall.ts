import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { systemFlag } from '../../cli/service/commands.ts'
import { uninstallService } from '../../cli/service/install.ts'
import { managerOf } from '../../cli/service/manager.ts'
import { serviceName } from '../../cli/service/plan.ts'

export default defineLocalCommand({
  summary: 'Stop the service and remove it; the data stays',
  examples: ['agent daemon uninstall', 'sudo agent daemon uninstall --system'],
  flags: {
    system: systemFlag,
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  },
  async run({ flags, say }) {
    const manager = managerOf(process.platform)
    const profile = flags.profile ?? fromProcess().AGENT_PROFILE
    const plan = { name: serviceName(profile), isSystem: flags.system }
    const about = { service: plan.name, file: manager.fileOf(plan), profile }
    if (flags.system && process.getuid?.() !== 0)
      throw new CommandError(
        'Only root may remove a service of the machine.',
        4,
        'sudo agent daemon uninstall --system',
      )
    const removed = await uninstallService(manager, plan)
    if (!removed) {
      say(`No service is installed for the profile ${profile}; there is nothing to remove.`)
      return { ...about, removed: false }
    }
    say(`The service ${plan.name} is removed. Its data stays in ${removed.dataDir}.`)
    return { ...about, dataDir: removed.dataDir, removed: true }
  },
})
