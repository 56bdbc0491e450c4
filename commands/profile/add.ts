import * as Flags from '@oclif/core/flags'
import { fromProcess, givenKey, toBase } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { profileFields, showProfile } from '../../cli/format/administration.ts'
import { argument } from '../../cli/input/arguments.ts'
import {
  readProfile,
  type RemoteProfile,
  writeProfile,
  writeProfileInUse,
} from '../../src/foundation/config/profile.ts'

export default defineLocalCommand({
  summary: 'Add a profile: the address of a daemon, and the key of a tenant',
  description:
    'Keys come from a file, from standard input, or from AGENT_API_KEY and AGENT_ADMIN_KEY; they are not printed. A daemon on this machine writes its own profile.',
  examples: [
    'agent profile add alice --url http://127.0.0.1:8085 --api-key-file alice.key',
    'agent profile add acme --url https://agent.acme.example --api-key-file acme.key',
    'pass show acme | agent profile add acme --url https://agent.acme.example --api-key-file - --use',
  ],
  args: {
    name: argument('name of the profile'),
  },
  flags: {
    url: Flags.string({ required: true, description: 'base URL of the daemon’s HTTP API' }),
    'api-key-file': Flags.string({
      description: 'file of the tenant’s key, - for standard input (AGENT_API_KEY: the key)',
    }),
    'admin-key-file': Flags.string({
      description: 'file of the administrator’s key, - for standard input (AGENT_ADMIN_KEY: the key)',
    }),
    use: Flags.boolean({ description: 'select the new profile' }),
    replace: Flags.boolean({ description: 'replace an existing profile of this name' }),
  },
  async run({ args, flags, say, suggest, printFields }) {
    const { name } = args
    if (flags['api-key-file'] === '-' && flags['admin-key-file'] === '-')
      throw new UsageError(
        '--api-key-file and --admin-key-file cannot both be standard input: give a file for one of them.',
      )
    const { AGENT_CONFIG_DIR: configDir, ...around } = fromProcess()
    const known = readProfile(configDir, name)
    if (known?.kind === 'local')
      throw new CommandError(
        `The profile ${name} belongs to a daemon on this machine. Choose another name.`,
        5,
      )
    if (known && !flags.replace)
      throw new CommandError(`There already is a profile ${name}. Use --replace to replace it.`, 5)
    const [apiKey, adminToken] = [
      givenKey('api-key-file', flags, around),
      givenKey('admin-key-file', flags, around),
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
      say(`Keys are sent to ${profile.url} unencrypted. Use https to protect them.`)
    const shown = showProfile(configDir, name, profile, flags.use ? name : around.AGENT_PROFILE)
    printFields(profileFields(shown))
    suggest(flags.use ? undefined : `agent profile use ${name}`, `agent doctor --profile ${name}`)
    return shown
  },
})
