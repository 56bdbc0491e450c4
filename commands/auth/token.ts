/** `agent auth token` */
import * as Args from '@oclif/core/args'
import { AgentCommand } from '../../cli/base-command.ts'

export default class AuthToken extends AgentCommand {
  static override summary = 'Exchange a challenge that was answered for a token that says who has signed in'
  static override description =
    'Once, and soon after the answer. The token is a JWT, which applications verify with the keys at /.well-known/jwks.json; with --quiet it stands alone.'
  static override examples = [
    '<%= config.bin %> auth token <challenge id>',
    'TOKEN=$(<%= config.bin %> auth token <challenge id> --quiet)',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the challenge' }),
  }

  async run() {
    const { args } = await this.parse(AuthToken)
    const token = await this.call('POST /did-authentication/challenges/{challengeId}/token', {
      path: { challengeId: args.id },
    })
    this.print(token.token, [
      ['token', token.token],
      ['subject', token.subject],
      ['issuer', token.issuer],
      ['audience', token.audience],
      ['expires', token.expireAt],
    ])
    return token
  }
}
