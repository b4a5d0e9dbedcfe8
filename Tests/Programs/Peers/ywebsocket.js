// A server for Yjs documents that works like y-websocket's own small server: it keeps every document in memory as a
// Y.Doc and sends its changes to all connections of that document. Awareness and storage are left out, since neither
// affects the comparison.
//
//   node ywebsocket.js PORT
//
// Needs the modules yjs, y-protocols, lib0 and ws. A node that is not the distribution's own does not look where the
// distribution's packages put them. Then set NODE_PATH to that directory; with any other node, setting it is harmless.
//
// Prints `ready` once it listens. A document's name is the path in the connection's URL.

'use strict'

const http = require('http')

/// A missing module is the most likely fault here, so the message says what to do.
const need = name => {
  try {
    return require(name)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    console.error(`module ${name} not found; is NODE_PATH set to the directory of the installed modules?`)
    process.exit(1)
  }
}

const Y = need('yjs')
const sync = need('y-protocols/sync')
const encoding = need('lib0/encoding')
const decoding = need('lib0/decoding')
const { WebSocketServer } = need('ws')

/// The first number of a message; all others (awareness, permissions) go unanswered.
const SYNC = 0

const message = write => {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, SYNC)
  write(encoder)
  return encoding.toUint8Array(encoder)
}

/// Documents outlive their connections, as in y-websocket's server without storage.
const documents = new Map()

const open = name => {
  let document = documents.get(name)
  if (document) return document
  document = { doc: new Y.Doc(), connections: new Set() }
  // The sender gets its own update too: y-websocket does that, and it is the only acknowledgement.
  document.doc.on('update', update => {
    const bytes = message(encoder => sync.writeUpdate(encoder, update))
    for (const connection of document.connections) connection.send(bytes)
  })
  documents.set(name, document)
  return document
}

const receive = (connection, doc, bytes) => {
  const decoder = decoding.createDecoder(new Uint8Array(bytes))
  if (decoding.readVarUint(decoder) !== SYNC) return
  const answer = message(encoder => sync.readSyncMessage(decoder, encoder, doc, null))
  // Only a first sync step is answered; the answer to any other message would be empty except for its leading number.
  if (answer.length > 1) connection.send(answer)
}

const port = Number(process.argv[2])
if (process.argv.length !== 3 || !Number.isInteger(port)) {
  console.error('usage: node ywebsocket.js PORT')
  process.exit(2)
}

// Small frames must not wait for the acknowledgement of those before them.
const server = http.createServer({ noDelay: true })

const sockets = new WebSocketServer({ server })

sockets.on('connection', (connection, request) => {
  const document = open(request.url.slice(1).split('?')[0])
  connection.binaryType = 'arraybuffer'
  document.connections.add(connection)
  connection.on('message', bytes => {
    try {
      receive(connection, document.doc, bytes)
    } catch (error) {
      // An unreadable message is only its sender's fault.
      console.error(error)
      connection.terminate()
    }
  })
  connection.on('close', () => document.connections.delete(connection))
  connection.on('error', () => connection.terminate())
  connection.send(message(encoder => sync.writeSyncStep1(encoder, document.doc)))
})

// It forwards the errors of the server below it.
sockets.on('error', error => {
  console.error(`cannot listen on port ${port}: ${error.message}`)
  process.exit(1)
})

server.listen(port, '127.0.0.1', () => console.log('ready'))
