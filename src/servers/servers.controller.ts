import { Controller, Get, Param, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { Problems } from '../problems/problems.decorator.js';
import { ServerPage, ToolPage } from './servers.contract.js';
import { Servers } from './servers.service.js';

@ApiTags('servers')
@RequiresScope('calls:write', 'consents:read')
@Controller('v1/servers')
export class ServersController {
  constructor(private readonly servers: Servers) {}

  @Get()
  @ApiOperation({ summary: 'Which MCP servers my tenant can call' })
  @ApiResponse({ status: 200, standardSchema: ServerPage })
  @SerializeOptions({ schema: ServerPage })
  list(@CurrentActor() actor: Actor): ServerPage {
    return this.servers.list(actor);
  }

  @Get(':id/tools')
  @ApiOperation({ summary: "A server's tools, in its own words" })
  @ApiParam({ name: 'id', type: String })
  @ApiResponse({ status: 200, standardSchema: ToolPage })
  @Problems('server_absent', 'server_unavailable', 'reauthorization_required')
  @SerializeOptions({ schema: ToolPage })
  tools(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<ToolPage> {
    return this.servers.tools(actor, id);
  }
}
