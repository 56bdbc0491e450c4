/** `agent creddef create` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { anonCredsSchemaUrl, definitionFields, didUrlFlag } from '../../cli/input/registry.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Create a credential definition, to issue AnonCreds credentials of a schema',
  description:
    'The daemon generates the key of the definition, which takes some seconds. With --no-wait it does so in the background; the state becomes READY.',
  examples: [
    'agent creddef create --schema <guid> --author <did> --name "id card"',
    'agent creddef create --schema <url> --author <did> --name "id card" --tag 2026 --no-wait',
  ],
  flags: {
    schema: Flags.string({
      required: true,
      description: 'the AnonCreds schema: its guid on this agent, or the URL or DID URL of its content',
    }),
    author: Flags.string({ required: true, description: 'DID of the issuer, in this wallet' }),
    name: Flags.string({ required: true, description: 'name of the definition' }),
    version: Flags.string({ description: 'SemVer', default: '1.0.0' }),
    tag: Flags.string({
      description: 'tag of the definition',
      default: 'default',
    }),
    description: Flags.string({ description: 'description for people' }),
    wait: Flags.boolean({ allowNo: true, default: true, description: 'wait until the key is generated' }),
    'did-url': didUrlFlag,
  },
  questions: { author: whichDid('Which DID issues by it?', 'author') },
  async run({ flags, getAccess, call, print, suggest }) {
    const { author, name, version, tag, description } = flags
    const input = {
      ...(!flags.wait && { headers: { prefer: 'respond-async' } }),
      body: {
        author,
        name,
        version,
        tag,
        description,
        schemaId: anonCredsSchemaUrl(flags.schema, getAccess().url),
        signatureType: 'CL' as const,
        supportRevocation: false,
      },
    }
    const made = flags['did-url']
      ? await call('POST /credential-definition-registry/definitions/did-url', input)
      : await call('POST /credential-definition-registry/definitions', input)
    print(made.guid, definitionFields(made))
    if (made.state === 'GENERATING')
      suggest(`agent creddef show ${made.guid}${flags['did-url'] ? ' --did-url' : ''}`)
    return made
  },
})
