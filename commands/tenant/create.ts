/** `agent tenant create`: the onboarding sequence of service §5. */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { makeKey, newKeyFlags } from '../../cli/input/secrets.ts'

export default class TenantCreate extends AgentCommand {
  static override summary = 'Create a tenant: a wallet, an entity and the key that lets it in'
  static override description =
    'The key is shown this once; the agent keeps a digest of it. Needs the administrator’s key.'
  static override examples = [
    '<%= config.bin %> tenant create alice',
    '<%= config.bin %> tenant create alice --key-file alice.key',
  ]
  static override args = {
    name: Args.string({ required: true, ignoreStdin: true, description: 'what the tenant is called' }),
  }
  static override flags = {
    wallet: Flags.string({ description: 'id of the wallet it gets; a new one when left out' }),
    ...newKeyFlags,
  }

  async run() {
    const { args, flags } = await this.parse(TenantCreate)
    const file = flags['key-file']
    // Before anything is made: a key that cannot be kept would let nobody in.
    const apiKey = makeKey(file)
    const walletId = flags.wallet ?? (await this.call('POST /wallets', { body: { name: args.name } })).id
    const { id } = await this.call('POST /iam/entities', { body: { name: args.name, walletId } })
    await this.call('POST /iam/apikey-authentication', { body: { entityId: id, apiKey } })
    const secret = file === undefined ? { apiKey } : { apiKeyFile: file }
    if (file === undefined)
      this.print(`${id}\n${apiKey}`, [
        ['tenant', id],
        ['name', args.name],
        ['wallet', walletId],
        ['api key', apiKey],
      ])
    else
      this.print(id, [
        ['tenant', id],
        ['name', args.name],
        ['wallet', walletId],
        ['key file', file],
      ])
    this.suggest(
      file === undefined
        ? 'export AGENT_API_KEY=<api key>   # it is not shown again'
        : `agent connection invite --api-key-file ${file}`,
    )
    return { id, name: args.name, walletId, ...secret }
  }
}
