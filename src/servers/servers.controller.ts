import { Controller, Get, Param, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { RequiresScope } from '../auth/decorators.js';
import { Problems } from '../problems/problems.decorator.js';
import { ServerPage, ToolPage } from './servers.contract.js';
import { Servers } from './servers.service.js';

@ApiTags('servers')
@RequiresScope('calls:write', 'consents:read')
@Controller('v1/servers')
export class ServersController {
  constructor(private readonly servers: Servers) {}

  @Get()
  @ApiOperation({ summary: 'Which MCP servers can be called' })
  @ApiResponse({ status: 200, standardSchema: ServerPage })
  @SerializeOptions({ schema: ServerPage })
  list(): ServerPage {
    return this.servers.list();
  }

  @Get(':id/tools')
  @ApiOperation({ summary: "A server's tools, in its own words" })
  @ApiParam({ name: 'id', type: String })
  @ApiResponse({ status: 200, standardSchema: ToolPage })
  @Problems('server_absent', 'server_unavailable')
  @SerializeOptions({ schema: ToolPage })
  tools(@Param('id') id: string): Promise<ToolPage> {
    return this.servers.tools(id);
  }
}
