/** `agent profile remove` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import {
  profileNames,
  readProfile,
  readProfileInUse,
  removeProfile,
  writeProfileInUse,
} from '../../src/base/profile.ts'
import { fromVariables } from '../../cli/client/settings.ts'
import { removeSettings } from '../../src/base/settings.ts'
import { findDaemon } from '../../cli/daemon/find.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { fields } from '../../cli/format/table.ts'
import { PlainCommand } from '../../cli/plain.ts'
import { confirm } from '../../cli/prompts/confirm.ts'

export default class ProfileRemove extends PlainCommand {
  static override summary = 'Remove a profile, with its keys'
  static override description =
    'The daemon and its data stay. A daemon on this machine makes a new administrator’s key when it starts without its profile. Asks first; in scripts, --yes is the answer.'
  static override examples = [
    '<%= config.bin %> profile remove acme',
    '<%= config.bin %> profile remove acme --yes',
  ]
  static override args = {
    name: Args.string({ required: true, ignoreStdin: true, description: 'name of the profile' }),
  }
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  async run() {
    const { args, flags } = await this.parse(ProfileRemove)
    const { name } = args
    const { AGENT_CONFIG_DIR: configDir } = fromVariables()
    if (!profileNames(configDir).includes(name))
      throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    const dataDir = dataDirOf(configDir, name)
    if (dataDir !== undefined && (await findDaemon(dataDir)))
      throw new CommandError(
        `The daemon of the profile ${name} runs, and needs it.`,
        5,
        `agent daemon stop --profile ${name}`,
      )
    if (!flags.yes) await confirm(`Remove the profile ${name}, with the keys in it? It cannot be taken back.`)
    removeProfile(configDir, name)
    removeSettings(configDir, name)
    if (readProfileInUse(configDir) === name) writeProfileInUse(configDir, undefined)
    this.log(fields([['removed', name]]))
    return { name, removed: true }
  }
}

/** The data folder of a profile on this machine. One that is not valid is there to be removed. */
function dataDirOf(configDir: string, name: string): string | undefined {
  try {
    const profile = readProfile(configDir, name)
    return profile?.kind === 'local' ? profile.dataDir : undefined
  } catch {
    return undefined
  }
}
