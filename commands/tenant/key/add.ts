/** `agent tenant key add` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../_base.ts'
import { makeKey, newKeyFlags } from '../../_input/new-key.ts'

export default class TenantKeyAdd extends AgentCommand {
  static override summary = 'Give a tenant another key, beside those it has'
  static override description = 'The key is shown this once; the agent keeps a digest of it. Needs the administrator’s key.'
  static override examples = [
    '<%= config.bin %> tenant key add <tenant id>',
    '<%= config.bin %> tenant key add <tenant id> --key-file alice.key',
  ]
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'id of the tenant' }) }
  static override flags = newKeyFlags

  async run() {
    const { args, flags } = await this.parse(TenantKeyAdd)
    const file = flags['key-file']
    // Before the daemon knows it: a key that cannot be kept would let nobody in.
    const apiKey = makeKey(file)
    await this.call('POST /iam/apikey-authentication', { body: { entityId: args.id, apiKey } })
    const [name, shown] = file === undefined ? ['api key', apiKey] : ['key file', file]
    this.print(shown, [
      ['tenant', args.id],
      [name, shown],
    ])
    this.suggest(
      file === undefined ? 'export AGENT_API_KEY=<api key>   # it is not shown again' : `agent connection list --api-key-file ${file}`,
    )
    return { id: args.id, ...(file === undefined ? { apiKey } : { apiKeyFile: file }) }
  }
}
