/**
 * A flooding tenant: sequential requests on each of many connections. A separate process, so that it does not
 * slow down the measurement. Ends with its standard input, and prints the number of answers by status.
 *
 * `node _flood.mjs <url> <apikey> <connections>`
 */
import { Agent, request } from 'node:http'

const [url, apikey, connections] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const statuses = {}
const over = new AbortController()

const ask = (method) =>
  new Promise((resolve) => {
    const asked = request(
      `${url}/connections?limit=10`,
      { agent, method, headers: { apikey } },
      (response) => {
        response.resume()
        response.once('close', () => resolve(response.statusCode))
      },
    )
    asked.once('error', (error) => resolve(error.code))
    asked.end()
  })

async function askOn(method) {
  while (!over.signal.aborted) {
    const status = await ask(method)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}

process.stdin.resume().once('end', () => over.abort())
// Like the measured tenant: as many reads as writes.
await Promise.all(Array.from({ length: Number(connections) }, (_, n) => askOn(n % 2 === 0 ? 'GET' : 'POST')))
process.stdout.write(JSON.stringify(statuses))
agent.destroy()
