/** `agent creddef create` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { anonCredsSchemaUrl, definitionFields, didUrlFlag } from '../../cli/input/registry.ts'
import { whichDid } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Make a credential definition, by which AnonCreds credentials of a schema are issued',
  description:
    'Its key is made by the daemon, which takes some seconds and goes on in the background when it is not waited for; the definition is READY then.',
  examples: [
    'agent creddef create --schema <guid> --author <did> --name "id card"',
    'agent creddef create --schema <url> --author <did> --name "id card" --tag 2026 --no-wait',
  ],
  flags: {
    schema: Flags.string({
      required: true,
      description: 'the AnonCreds schema: its guid here, or the URL or DID URL of the schema alone',
    }),
    author: Flags.string({ required: true, description: 'DID of the issuer, of this wallet' }),
    name: Flags.string({ required: true, description: 'what the definition is called' }),
    version: Flags.string({ description: 'SemVer', default: '1.0.0' }),
    tag: Flags.string({
      description: 'a word to find it by, which is part of the definition',
      default: 'default',
    }),
    description: Flags.string({ description: 'what it is for' }),
    wait: Flags.boolean({ allowNo: true, default: true, description: 'wait until the key is made' }),
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
