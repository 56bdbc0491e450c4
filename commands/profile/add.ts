/** `agent profile add` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readProfile, writeProfile, writeProfileInUse, type RemoteProfile } from '../../src/base/profile.ts'
import { fromProcess, readKey, toBase } from '../../cli/client/settings.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { profileFields, showProfile } from '../../cli/format/profile.ts'
import { fields } from '../../cli/format/table.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class ProfileAdd extends PlainCommand {
  static override summary = 'Write a profile for a daemon on another machine'
  static override description =
    'Keys come from a file, from standard input, or from AGENT_API_KEY and AGENT_ADMIN_KEY; never in a flag, and none is printed. A daemon on this machine writes its profile itself.'
  static override examples = [
    '<%= config.bin %> profile add acme --url https://agent.acme.example --api-key-file acme.key',
    'pass show acme | <%= config.bin %> profile add acme --url https://agent.acme.example --api-key-file - --use',
  ]
  static override args = {
    name: Args.string({ required: true, ignoreStdin: true, description: 'name of the profile' }),
  }
  static override flags = {
    url: Flags.string({ required: true, description: 'base URL of the daemon’s HTTP API' }),
    'api-key-file': Flags.string({
      description: 'file of the tenant’s key, - for standard input (AGENT_API_KEY: the key)',
    }),
    'admin-key-file': Flags.string({
      description: 'file of the administrator’s key, - for standard input (AGENT_ADMIN_KEY: the key)',
    }),
    use: Flags.boolean({ description: 'put it into use' }),
    replace: Flags.boolean({ description: 'write it anew if there is one of this name' }),
  }

  async run() {
    const { args, flags } = await this.parse(ProfileAdd)
    const { name } = args
    if (flags['api-key-file'] === '-' && flags['admin-key-file'] === '-')
      throw new UsageError(
        '--api-key-file and --admin-key-file cannot both be standard input: give a file for one of them.',
      )
    const { AGENT_CONFIG_DIR: configDir, ...around } = fromProcess()
    const known = readProfile(configDir, name)
    if (known?.kind === 'local')
      throw new CommandError(
        `The profile ${name} is that of a daemon on this machine, which writes it itself. Take another name.`,
        5,
      )
    if (known && !flags.replace)
      throw new CommandError(`There is a profile ${name} already. --replace writes it anew.`, 5)
    const [apiKey, adminToken] = [
      readKey('api-key-file', flags) ?? around.AGENT_API_KEY,
      readKey('admin-key-file', flags) ?? around.AGENT_ADMIN_KEY,
    ]
    const profile: RemoteProfile = {
      kind: 'remote',
      url: toBase(flags.url),
      ...(apiKey && { apiKey: apiKey.reveal() }),
      ...(adminToken && { adminToken: adminToken.reveal() }),
    }
    writeProfile(configDir, name, profile)
    if (flags.use) writeProfileInUse(configDir, name)
    const { hostname, protocol } = new URL(profile.url)
    const isOpen = protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname)
    if (isOpen && (apiKey ?? adminToken))
      this.say(`The keys go to ${profile.url} unencrypted: https would keep them from others.`)
    const shown = showProfile(configDir, name, profile, flags.use ? name : around.AGENT_PROFILE)
    this.log(fields(profileFields(shown), this.width, this.paint))
    this.suggest(flags.use ? undefined : `agent profile use ${name}`, `agent doctor --profile ${name}`)
    return shown
  }
}
