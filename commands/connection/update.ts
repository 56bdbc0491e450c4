/** `agent connection update` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { connectionFields } from '../../cli/format/connection.ts'
import { acceptanceFlags, readAcceptance } from '../../cli/input/credential.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default class ConnectionUpdate extends AgentCommand {
  static override summary =
    'Change the label of a connection, or which offers over it are accepted without a person'
  static override description =
    '--accept-offers applies to future offers, and replaces the rule before. An offer that waits for an answer keeps waiting.'
  static override examples = [
    '<%= config.bin %> connection update <id> --label Acme',
    '<%= config.bin %> connection update <id> --accept-offers --subject did:prism:…',
    '<%= config.bin %> connection update <id> --accept-offers --subject did:prism:… --key-id auth-1 --format sdjwt',
    '<%= config.bin %> connection update <id> --accept-offers --subject did:prism:… --trust-issuer did:prism:…',
    '<%= config.bin %> connection update <id> --no-accept-offers',
  ]
  static override args = {
    id: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the connection: its id, the end of the id, or its label',
    }),
  }
  static override flags = {
    label: Flags.string({ description: 'what this side calls the connection; it is not sent' }),
    'accept-offers': Flags.boolean({
      allowNo: true,
      description: 'accept offers over this connection without a person, or none',
    }),
    ...acceptanceFlags,
  }

  protected override readonly questions = { id: whichRecord('connection') }

  async run() {
    const { args, flags } = await this.parse(ConnectionUpdate)
    const automaticAcceptance = readAcceptance(flags)
    if (!automaticAcceptance && flags.label === undefined)
      throw new UsageError(
        'There is nothing to change: give --label, --accept-offers with --subject, or --no-accept-offers.',
      )
    const changed = await this.call('PATCH /connections/{connectionId}', {
      path: { connectionId: args.id },
      body: { label: flags.label, automaticAcceptance },
    })
    this.print(changed.connectionId, connectionFields(changed))
    return changed
  }
}
