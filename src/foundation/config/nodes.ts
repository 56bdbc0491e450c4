/** The variables of nodes over PostgreSQL. */
import * as z from 'zod'
import { Secret } from '../secret.ts'

/**
 * `postgres://role:password@host:port/database`, also with the host of a Unix socket as a parameter. The
 * password makes it a secret.
 */
export const databaseUrl = z
  .string()
  .refine(
    (text) => isDatabaseUrl(text),
    'is not a URL of the form postgres://role:password@host:port/database',
  )
  .transform((value) => new Secret(value))

function isDatabaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname } = new URL(text)
  return /^postgres(?:ql)?:$/.test(protocol) && /^\/[^/]+$/.test(pathname)
}

/** The name of a node, which logs, errors and `agent node list` show. */
const nodeName = z
  .string()
  .regex(/^[\w.-]{1,63}$/, 'is not 1 to 63 letters, digits, dots, hyphens and underscores')

/** The address of a listener that other machines call: a host and a port. */
const nodeAddress = z
  .string()
  .regex(/^(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}$/, 'is not host:port')
  .refine((text) => Number(text.split(':').at(-1)) <= 65_535, 'has a port above 65535')
  .refine((text) => !/^(?:0\.0\.0\.0|\[::\]):/.test(text), 'is not an address that other nodes can call')

// prettier-ignore
export const nodeVariables = {
  AGENT_DATABASE_URL:                   databaseUrl.optional() .describe('PostgreSQL database of the agent, which several nodes share: `postgres://role:password@host:port/database`. Default: SQLite files in the data folder.'),
  AGENT_DATABASE_CONNECTIONS:           z.coerce.number().int().min(8).max(10_000).default(20)
                                                               .describe('Connections of this node to PostgreSQL, 8 to 10000.'),
  AGENT_NODE_NAME:                      nodeName.optional()    .describe('Name of this node, which no other node of the database has. Default: the name of the host.'),
  AGENT_NODE_ADDRESS:                   nodeAddress.default('127.0.0.1:0')
                                                               .describe('Address of this machine that the other nodes send requests to, `host:port`. It must be reachable for them alone. Port 0 selects a free one.'),
  AGENT_LEASE_SECONDS:                  z.coerce.number().int().min(2).max(300).default(5)
                                                               .describe('Time after which the other nodes take over the wallets of a node that does not answer, 2 to 300. All nodes have the same.'),
} satisfies Record<string, z.ZodType>
